"""Words before a full stop that is not, or not always, the end of a sentence."""

from __future__ import annotations

__all__ = ["BEFORE_NAME", "BEFORE_NUMBER", "BEFORE_SMALL", "ENDS_BEFORE_OPENER", "LETTERED", "NEVER", "OPENERS"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NEVER = _words(
    """
    e.g eg i.e ie cf Cf vs Vs viz ca approx Approx FIG FIGS Fig Figs fig figs Eq Eqs eq eqs Eqn Eqns eqn eqns Ref
    Refs ref refs Suppl suppl Supp Supplem Lt Sgt Maj Adm Cpl Sra Anal Calcd Dr Drs Prof Profs Mr Mrs Ms Mx Messrs
    St Ste Mt Gen Col Capt Hon Rev Gov Sen Rep ser serov bzw ggf evtl sog vgl Abschn pv pvs subsp ssp var cv nothosp
    aff bv biov pathov Drosoph Staph Strep Pseudomon
    """
)
"""Never an end: what they introduce follows."""

BEFORE_NUMBER = _words(
    """
    No Nos no nos Nr nr Num num Vol vol Vols vols pp Pp p P Sect sect Sects Sec Secs Tab Tabs tab Chap chap Chaps Ch
    ch v V ver Ver vers n N App app Art art Ser ser Suppl Ex ex Exp exp Def Thm Prop Lem Cor Alg Sch cl Jan Feb Mar
    Apr Jun Jul Aug Sep Sept Oct Nov Dec Cat cat Ext ext lot Lot tel Tel Ed ed pt Pt sec secs Ca Mon Tue Tues Wed
    Thu Thur Thurs Fri Sat Sun col cols Pat pat par Par para Para paras
    """
)
"""No end before a number: numbered things, versions, pages, months."""

BEFORE_SMALL = _words(
    """
    etc resp conc concs concn temp temps soln solns equiv equivs assoc spec specif max min avg est incl excl cont
    contd abbrev misc wt wts mol dist diam diff decomp prep calcd obsd anal sat satd aq anhyd quant qual sec secs hr
    hrs wk wks mo mos yr yrs mon rel abs corr coeff const subst techn biol chem phys med clin
    """
)
"""No end before a small letter, whatever their length."""

BEFORE_NAME = _words("sp spp nov gen comb cv str")
"""No end before a small letter, a number or the code of a strain (``sp. PCC 6803``)."""

ENDS_BEFORE_OPENER = _words(
    """
    al etal conc aq dil satd anhyd glac Inc Ltd Co Corp Cos Bros Jr Sr Univ Dept Inst Hosp Acad Natl Intl deg Int
    Assoc Soc Am Proc Ave Blvd Rd Calif Mass Wash Conn Colo Fla Ill Ind Mich Minn Tenn Tex Va Wis Penn Ont Que
    Philos J Biol Chem Phys Med Sci Lett Nat Mater
    """
)
"""An end only before a word that opens sentences: companies, institutions, journals, ``et al.``"""

OPENERS = _words(
    """
    The This These Those That They Their Theirs There Then Thus Therefore Thereafter Thereby Though Although To
    Today In It Its If Is We Our Ours Us He She His Her Hers As At An A All Also Among Amongst And Another Any Are
    After Afterwards Again Against Alternatively Additionally Accordingly Along Altogether Around Apart Assuming
    Because Before Being Below Beside Besides Between Beyond Both But By Can Clearly Compared Concerning
    Consequently Considering Conversely Contrary Consistent Currently Data Despite Do Does Did Due During Each
    Either Especially Even Eventually Every Except Few Finally First Firstly Following For Fortunately From Further
    Furthermore Generally Given Had Has Have Having Hence Here However How I Importantly Indeed Initially Instead
    Interestingly Just Last Lastly Later Less Let Like Likewise Many Meanwhile More Moreover Most Much Nearly
    Neither Nevertheless Next No None Nonetheless Nor Not Notably Note Nothing Now Of Often On Once One Only Or
    Other Others Otherwise Over Overall Out Particularly Perhaps Possibly Presumably Previous Previously Prior
    Probably Rather Recent Recently Regarding Regardless Remarkably Respectively Results Second Secondly Several
    Should Significant Similar Similarly Since So Some Sometimes Specifically Still Strikingly Subsequently Such
    Surprisingly Taken Than Thank Third Thirdly Through Throughout Together Two Three Four Five Six Ten Typically
    Ultimately Under Unfortunately Unless Unlike Until Up Upon Using Usually Various Very Via Was Were What When
    Whenever Where Whereas Wherever Whether Which While Who Suppose Assume Consider Denote Define Recall Whose Why
    With Within Without Would Nobody Everyone Someone Anyone Everybody Yes Yet You Your
    """
)
"""Words that open a sentence and seldom a name."""

LETTERED = _words(
    """
    vitamin vitamins kinase kinases kappa group groups type types hepatitis factor panel panels table tables figure
    class classes grade site sites phase protein proteins subunit chain domain strain arm cohort case part section
    step stage category cluster appendix scheme series model method sample samples condition region zone band peak
    complex compound lamin cyclin cathepsin influenza isoform variant toxin receptor coenzyme cytochrome hemophilia
    haemophilia point position plate line column row box set subset patient participant subject unit form system
    pathway scenario experiment study option element matrix vector points layer species surface state states process
    curve path
    """
)
"""Words that a single capital letter may follow as a name: ``vitamin C.``"""
