//! Certificates as files.
//!
//! A file is a line that says what it is, the certificates one after the other, and a digest of all
//! that. Numbers take one byte for seven bits; lists and texts have their length before them.
//! `docs/explanation/certificates.md` describes what is in them.

use base::Fairness;
use source::Options;

use crate::Failure;
use crate::bytes::{Reader, digest, numbers, put, put_list, put_numbers, put_signed, put_text};
use crate::family::{FamilyProof, family_proof, put_family};
use crate::reason::Reason;
use crate::symbolic::{DataRuns, Invariant, data_runs, put_data_runs};
use crate::tableau::Demands;

const MAGIC: &[u8] = b"fairground certificate 1\n";
const PACKED: &[u8] = b"fairground certificate 1, deflate\n";

/// What a packed file may unpack to: this many bytes, and this many times its size. Checking takes time and
/// memory that are linear in the file.
const MAX_UNPACKED: (usize, usize) = (1 << 16, 64);

/// Reasons that are nested deeper are refused.
pub const MAX_DEPTH: usize = 64;

/// What stands in a file about one property.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Certificate {
    /// The name of the property.
    pub property: String,
    /// With what the text of the model is read.
    pub options: CertifiedOptions,
    /// The fairness that is claimed to be enough.
    pub fairness: Fairness,
    /// What is claimed.
    pub claim: Claim,
    /// A proof for each obligation that follows from the claim.
    pub proofs: Vec<Proof>,
}

/// The options that decide what a text means.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CertifiedOptions {
    /// Pairs of names and values, or formulas: `-D`, `--ltl`, `--ctl` and `--abstract-timer`.
    pub pairs: [Vec<(String, String)>; 4],
    /// Assumptions.
    pub assume: Vec<String>,
    /// How many processes or terms are provided for.
    pub pool: usize,
}

/// What is claimed of a property.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Claim {
    /// It holds.
    Holds,
    /// It asks for a position that cannot be reached.
    Unreachable,
}

/// A proof of one obligation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Proof {
    /// All positions are as demanded. For each state, how many of its successors are new.
    Positions(Vec<u32>),
    /// No run is fair and forbidden.
    Runs(NoRun),
    /// All states are as demanded, because they satisfy an invariant that solvers confirm.
    Invariant(Invariant),
    /// All states of all instances are as demanded.
    Family(FamilyProof),
    /// No run is fair and forbidden, because runs follow a graph; solvers confirm that they do.
    Graph(DataRuns),
}

/// A proof that no run is fair and forbidden.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NoRun {
    /// For each state of the system, in the order in which they come up, which profile it has.
    pub profile_of: Vec<u32>,
    /// With which states of the automaton a state of the system occurs, each with its path.
    pub profiles: Vec<Profile>,
    /// The states of the automaton.
    pub demands: Vec<Demands>,
    /// A reason for each number at the start of a path.
    pub reasons: Vec<Reason>,
}

/// Positions in [`NoRun::demands`], in ascending order, and paths.
pub type Profile = Vec<(u32, Vec<u32>)>;

impl Certificate {
    /// Is it about all values of a parameter?
    #[must_use]
    pub fn is_for_all(&self) -> bool {
        matches!(self.proofs[..], [Proof::Family(_)])
    }
}

impl CertifiedOptions {
    /// What is to be remembered of the options.
    #[must_use]
    pub fn new(options: &Options) -> Self {
        let Options {
            defines,
            ltl,
            ctl,
            assume,
            abstract_timers,
            pool,
            closed: _,
            // The name of the file or its text say it again.
            language: _,
            // What an author expects of a verdict does not change what it means.
            expected: _,
            // What is only looked at decides nothing.
            values: _,
            // A text that is read otherwise than usual has no certificates.
            variations: _,
        } = options.clone();
        Self {
            pairs: [defines, ltl, ctl, abstract_timers],
            assume,
            pool,
        }
    }

    /// The options for the front end, which leaves a parameter open only if that is what is claimed.
    #[must_use]
    pub fn for_front_end(&self, closed: bool) -> Options {
        let [defines, ltl, ctl, abstract_timers] = self.pairs.clone();
        Options {
            defines,
            ltl,
            ctl,
            assume: self.assume.clone(),
            abstract_timers,
            pool: self.pool,
            closed,
            expected: Vec::new(),
            values: Vec::new(),
            language: None,
            variations: Vec::new(),
        }
    }
}

/// The bytes of a file with these certificates.
#[must_use]
pub fn write(certificates: &[Certificate]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    for certificate in certificates {
        put_text(&mut bytes, &certificate.property);

        let options = &certificate.options;
        for pairs in &options.pairs {
            put_list(&mut bytes, pairs, |bytes, (name, value)| {
                put_text(bytes, name);
                put_text(bytes, value);
            });
        }
        put_list(&mut bytes, &options.assume, |b, text| put_text(b, text));
        put(&mut bytes, options.pool as u64);

        put_text(&mut bytes, &certificate.fairness.name());
        bytes.push(match certificate.claim {
            Claim::Holds => 0,
            Claim::Unreachable => 1,
        });

        put_list(&mut bytes, &certificate.proofs, put_proof);
    }

    // A file that was cut or changed must not be read as another proof.
    let digest = digest(&bytes);
    bytes.extend_from_slice(&digest.to_le_bytes());
    bytes
}

/// The bytes of a file with these certificates that is packed, if that makes it smaller.
#[must_use]
pub fn write_packed(certificates: &[Certificate]) -> Vec<u8> {
    let file = write(certificates);
    let deflated = miniz_oxide::deflate::compress_to_vec(&file, 6);
    let packed = [PACKED, &deflated].concat();
    let is_smaller = packed.len() < file.len() && file.len() <= max_unpacked(packed.len());
    if is_smaller { packed } else { file }
}

fn max_unpacked(n_bytes: usize) -> usize {
    MAX_UNPACKED.0 + MAX_UNPACKED.1 * n_bytes
}

/// The certificates in a file, packed or not.
///
/// # Errors
/// It is not such a file, or it is damaged.
pub fn read(bytes: &[u8]) -> Result<Vec<Certificate>, Failure> {
    let Some(deflated) = bytes.strip_prefix(PACKED) else {
        return read_unpacked(bytes);
    };
    let limit = max_unpacked(bytes.len());
    let unpacked = miniz_oxide::inflate::decompress_to_vec_with_limit(deflated, limit);
    let unpacked = unpacked.map_err(|_| Failure::wrong("the file is damaged"))?;
    read_unpacked(&unpacked)
}

fn read_unpacked(bytes: &[u8]) -> Result<Vec<Certificate>, Failure> {
    let content = bytes
        .strip_prefix(MAGIC)
        .ok_or_else(|| Failure::wrong("this is not a certificate of this version"))?;
    let (content, stored) = content
        .split_last_chunk::<8>()
        .ok_or_else(|| Failure::wrong("the file ends too early"))?;
    if digest(&bytes[..bytes.len() - 8]) != u64::from_le_bytes(*stored) {
        return Err(Failure::wrong("the file is damaged"));
    }
    let mut reader = Reader::new(content);
    let mut certificates = Vec::new();
    while !reader.is_at_end() {
        certificates.push(certificate(&mut reader)?);
    }
    Ok(certificates)
}

fn certificate(reader: &mut Reader<'_>) -> Result<Certificate, Failure> {
    let property = reader.text()?;

    let mut options = CertifiedOptions::default();
    for pairs in &mut options.pairs {
        *pairs = reader.list(|r| Ok((r.text()?, r.text()?)))?;
    }
    options.assume = reader.list(Reader::text)?;
    options.pool = reader.small()? as usize;

    let fairness = Fairness::parse(&reader.text()?);
    let fairness = fairness.ok_or_else(|| Failure::wrong("the fairness is not known"))?;
    let claim = match reader.number()? {
        0 => Claim::Holds,
        1 => Claim::Unreachable,
        _ => return Err(Failure::wrong("the claim is not known")),
    };

    Ok(Certificate {
        property,
        options,
        fairness,
        claim,
        proofs: reader.list(proof)?,
    })
}

fn put_proof(bytes: &mut Vec<u8>, proof: &Proof) {
    match proof {
        Proof::Positions(n_new) => {
            bytes.push(0);
            put_numbers(bytes, n_new);
        }
        Proof::Runs(run) => {
            bytes.push(1);
            put_no_run(bytes, run);
        }
        Proof::Invariant(invariant) => {
            bytes.push(2);
            put_invariant(bytes, invariant);
        }
        Proof::Family(proof) => {
            bytes.push(3);
            put_family(bytes, proof);
        }
        Proof::Graph(runs) => {
            bytes.push(4);
            put_data_runs(bytes, runs);
        }
    }
}

pub(crate) fn put_invariant(bytes: &mut Vec<u8>, invariant: &Invariant) {
    put_list(bytes, &invariant.terms, |bytes, term| put_text(bytes, term));
    put_list(bytes, &invariant.rows, |bytes, row| {
        put_list(bytes, row, |bytes, value| put_signed(bytes, *value));
    });
}

pub(crate) fn invariant(reader: &mut Reader<'_>) -> Result<Invariant, Failure> {
    Ok(Invariant {
        terms: reader.list(Reader::text)?,
        rows: reader.list(|r| r.list(Reader::signed))?,
    })
}

pub(crate) fn put_no_run(bytes: &mut Vec<u8>, run: &NoRun) {
    put_numbers(bytes, &run.profile_of);
    put_list(bytes, &run.profiles, |bytes, profile| {
        put_list(bytes, profile, |bytes, (state, path)| {
            put(bytes, u64::from(*state));
            put_numbers(bytes, path);
        });
    });
    put_list(bytes, &run.demands, |b, demands| put_numbers(b, demands));
    put_list(bytes, &run.reasons, put_reason);
}

pub(crate) fn no_run(reader: &mut Reader<'_>) -> Result<NoRun, Failure> {
    Ok(NoRun {
        profile_of: numbers(reader)?,
        profiles: reader.list(|r| r.list(|r| Ok((r.small()?, numbers(r)?))))?,
        demands: reader.list(numbers)?,
        reasons: reader.list(|r| reason(r, 0))?,
    })
}

fn proof(reader: &mut Reader<'_>) -> Result<Proof, Failure> {
    match reader.number()? {
        0 => Ok(Proof::Positions(numbers(reader)?)),
        1 => Ok(Proof::Runs(no_run(reader)?)),
        2 => Ok(Proof::Invariant(invariant(reader)?)),
        3 => Ok(Proof::Family(family_proof(reader)?)),
        4 => Ok(Proof::Graph(data_runs(reader)?)),
        _ => Err(Failure::wrong("the kind of proof is not known")),
    }
}

fn put_reason(bytes: &mut Vec<u8>, reason: &Reason) {
    match reason {
        Reason::Absent(marks) => {
            bytes.push(0);
            put_numbers(bytes, marks);
        }
        Reason::Unclosed => bytes.push(1),
        Reason::Cut {
            absent,
            marks,
            parts,
        } => {
            bytes.push(2);
            put_numbers(bytes, absent);
            put_numbers(bytes, marks);
            put_list(bytes, parts, put_reason);
        }
        Reason::Case {
            mark,
            infinite,
            parts,
        } => {
            bytes.push(3);
            put(bytes, u64::from(*mark));
            put_reason(bytes, infinite);
            put_list(bytes, parts, put_reason);
        }
    }
}

fn reason(reader: &mut Reader<'_>, depth: usize) -> Result<Reason, Failure> {
    if depth > MAX_DEPTH {
        return Err(Failure::wrong("reasons are nested too deeply"));
    }
    match reader.number()? {
        0 => Ok(Reason::Absent(numbers(reader)?)),
        1 => Ok(Reason::Unclosed),
        2 => Ok(Reason::Cut {
            absent: numbers(reader)?,
            marks: numbers(reader)?,
            parts: reader.list(|r| reason(r, depth + 1))?,
        }),
        3 => Ok(Reason::Case {
            mark: reader.small()?,
            infinite: Box::new(reason(reader, depth + 1)?),
            parts: reader.list(|r| reason(r, depth + 1))?,
        }),
        _ => Err(Failure::wrong("the kind of reason is not known")),
    }
}
