// How the search ranks what it finds: guides first, then reference, last release notes and the contract.
// The other numbers are Sphinx's own.
var Scorer = {
    score: ([name, , , , score]) => {
        if (/^doc\/(contract\/|release-notes$)/.test(name)) return score - 1000;
        const reference = /^api-ref\/|^doc\/(options|hardware|interface-steps|microversions|metric-names|inspection-hooks|inspection-rules-reference)$/;
        return reference.test(name) ? score - 100 : score;
    },
    objNameMatch: 11,
    objPartialMatch: 6,
    objPrio: { 0: 15, 1: 5, 2: -5 },
    objPrioDefault: 0,
    title: 15,
    partialTitle: 7,
    term: 5,
    partialTerm: 2,
};
