// The words of the three languages, by what they are. The studio colours texts by them, and the grammars
// for editors are made of them (editors/vscode/scripts/grammar.mjs).

const words = (text) => new Set(text.split(/\s+/));

export const fair = {
  keywords: words(`abstract const param type enum record chan event synchronous process fairness assume property
    invariant reachable deadlockfree var init def timer fair just weak strong from when where sync choose let if then else
    for in assert skip set end under choice system of view expect leads to delay union inter minus subset interference with
    frame ranking subsets only holds violated unknown import as spawn spawned`),
  operators: words(`always eventually next until release unless weakuntil once historically previously since forall exists count sum and or not implies
    iff mod min max abs len empty full enabled moves deadlock expired off G F X U W R A E`),
  types: words("bool int nat array set bag map seq option any"),
  atoms: words("true false"),
};

export const promela = {
  keywords: words(`active assert atomic break c_code d_step do else eval fi goto hidden if init inline ltl never notrace
    od of priority printf proctype provided return run select show skip timeout trace typedef unless xr xs for in`),
  operators: words("always eventually until weakuntil stronguntil release implies equivalent next len empty full nempty nfull enabled pc_value X U W V"),
  types: words("bit bool byte chan int mtype pid short unsigned"),
  atoms: words("true false np_ _ _pid _nr_pr _last"),
};

export const csp = {
  keywords: words(`var define enum channel hvar import alphabet atomic if ifa ifb case default else while assert
    deadlockfree divergencefree deterministic nonterminating reaches refines with min max interrupt tau Skip Stop call wf sf`),
  operators: words("F G X U R V call"),
  types: words("int bool"),
  atoms: words("true false"),
};
