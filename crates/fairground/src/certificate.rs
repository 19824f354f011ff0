//! Certificates of verdicts.

use base::Budget;
use certify::{Certificate, Extent, Failure};
use check::{Bug, Plan, Uncertified};
use evidence::{Confidence, Invalid};
use source::Content;

use crate::answer::Answer;
use crate::error::Error;
use crate::project::Project;
use crate::question::Question;

impl Project {
    /// The certificate of an answer that this project gave to a question. Where there is none although
    /// the answer rests on a search, a remark of the answer says why.
    ///
    /// # Errors
    /// The answer is wrong.
    pub fn certificate(
        &self,
        question: &Question,
        answer: &mut Answer,
        plan: &Plan,
    ) -> Result<Option<Certificate>, Error> {
        // A run that was replayed needs no certificate, and no verdict has none.
        match answer.result.rests_on.confidence {
            None | Some(Confidence::Replayed) => return Ok(None),
            Some(_) => {}
        }
        if let Some(variation) = self.options().variations.first() {
            let remark = format!(
                "not certified: the text is read with --{}",
                variation.name()
            );
            answer.result.remarks.push(remark);
            return Ok(None);
        }
        let larger;
        let project = match self.with_pool(answer.pool) {
            None => self,
            Some(project) => {
                larger = project?;
                &larger
            }
        };
        let found = project.find_certificate(&question.name, answer, plan);
        match found {
            Ok(certificate) => Ok(Some(certificate)),
            Err(Uncertified::Contradicted(why)) => Err(wrong(question, why)),
            Err(why) => {
                answer.result.remarks.push(format!("not certified: {why}"));
                Ok(None)
            }
        }
    }

    fn find_certificate(
        &self,
        question: &str,
        answer: &Answer,
        plan: &Plan,
    ) -> Result<Certificate, Uncertified> {
        let asked = self.asked.iter().find(|q| q.property.name == question);
        match (&self.content, asked) {
            (Content::Systems(systems), Some(asked)) => {
                let options = self.options();
                let (outcome, budget) = (&answer.outcome, &plan.budget);
                check::certificate(systems, asked, outcome, plan.fairness, &options, budget)
            }
            (Content::Family(family), Some(asked)) => {
                let (template, outcome) = (&family.template, &answer.outcome);
                let options = self.options();
                check::certificate_for_all(template, asked, outcome, &options, &plan.budget)
            }
            (Content::Threshold(_), Some(_)) => {
                let why = "there are no certificates for threshold automata; give all parameters values with `-D`";
                Err(Uncertified::Unsupported(why.to_owned()))
            }
            (_, None) => {
                let why = "the question is not one of the model";
                Err(Uncertified::Unsupported(why.to_owned()))
            }
        }
    }

    /// Checks the certificate of an answer, which then says so. Nothing of the search is used; a model
    /// that comes from a text is read again.
    ///
    /// # Errors
    /// The certificate is wrong.
    pub fn certify(
        &self,
        question: &Question,
        answer: &mut Answer,
        certificate: &Certificate,
        budget: &Budget,
    ) -> Result<(), Error> {
        // An answer that a solver found is confirmed by others.
        let solvers = answer.result.rests_on.solvers.iter();
        let finders: Vec<&str> = solvers.map(|solver| solver.name.as_str()).collect();
        let mut solvers = certify::installed_solvers(&finders);
        let checked = match self.files() {
            Some((files, path)) => {
                let bytes = certify::write(std::slice::from_ref(certificate));
                certify::check_file(files, path, &bytes, &mut solvers, budget)
            }
            None => {
                let (questions, solvers) = (&self.asked, &mut solvers);
                let certified = match &self.content {
                    Content::Systems(systems) => {
                        certify::verify(systems, questions, certificate, solvers, budget)
                    }
                    Content::Family(family) => {
                        certify::verify_for_all(family, questions, certificate, solvers, budget)
                    }
                    Content::Threshold(_) => {
                        let why = "there are no certificates for threshold automata";
                        Err(Failure::Wrong(why.to_owned()))
                    }
                };
                certified.map(|certified| vec![certified])
            }
        };
        match checked {
            Ok(certified) => {
                for certified in certified {
                    match certified.extent {
                        Extent::States(_) => {}
                        Extent::Obligations(_) | Extent::Family { .. } => {
                            let remark = format!("the certificate has {}", certified.extent);
                            answer.result.remarks.push(remark);
                        }
                    }
                }
                let rests_on = &mut answer.result.rests_on;
                rests_on.confidence = Some(Confidence::Certified);
                // The certificate is one of the whole system.
                rests_on.reductions.clear();
            }
            Err(Failure::Stopped(reason)) => {
                let remark = format!("not certified: {}", reason.name());
                answer.result.remarks.push(remark);
            }
            Err(Failure::Unconfirmed(why)) => {
                answer.result.remarks.push(format!("not certified: {why}"));
            }
            Err(Failure::Wrong(why)) => {
                return Err(wrong(
                    question,
                    format!("its certificate is rejected: {why}"),
                ));
            }
        }
        Ok(())
    }
}

fn wrong(question: &Question, why: String) -> Error {
    Error::Bug(Bug {
        property: question.name.clone(),
        invalid: Invalid::Uncertified(why),
    })
}
