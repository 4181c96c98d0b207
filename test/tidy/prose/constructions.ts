/** Constructions that make English hard to read. Most have harmless uses too, so their number has a budget and is not 0. */

export interface Construction {
  readonly name: string
  readonly pattern: RegExp
  /** What to write in its place. */
  readonly instead: string
}

export const constructions: readonly Construction[] = [
  {
    name: 'a clause with who in place of a noun',
    pattern:
      /\b(?:[Ww]hoever|(?:^|[.:;,] |\b(?:to|of|for|by|from|and|that) )[Ww]ho (?:is|was|has|had|waits|asks|began|got|sends|reads|comes|may|follows|left|wants|looks|calls|holds|signs|makes|made|takes|took|knows|can|could|does|did|starts|started|writes|wrote|gets|gave|serves|needs|owns))\b/g,
    instead: 'name the person or the program: the caller, the reader, the sender',
  },
  {
    name: 'a clause with what in place of a noun',
    pattern:
      /\b[Ww]hat (?:is|was|are|were|has|had|came|comes|became|becomes|it|they|he|this|that|others?|one|there|can|could|may|must|would|goes|went|stands?|lies|waits|follows|remains|begins|breaks|changes|changed|belongs|happens|others|a|an|the)\b/g,
    instead: 'name the thing: the request, outgoing mail, plan limits',
  },
  {
    name: 'told, tells, says so',
    pattern:
      /\b(?:is|are|was|were|be|been|being|not|never|once|still) told\b|\btold (?:of|that|by|to|from|at|once|so|again)\b|\bsays? so\b|\btells? (?:it|them|what|whether|of)\b/g,
    instead: 'reports, lists, shows, names',
  },
  {
    name: 'nobody, somebody, no one, everybody',
    pattern: /\b(?:nobody|somebody|everybody|no one|someone)\b/gi,
    instead: 'name the role: no caller, a member, every reader',
  },
  {
    name: 'so long, so many, so often without a comparison',
    pattern: /\b(?:[Ff]or )?so (?:long|often|many|much|soon|far)\b(?! as\b)(?! that\b)/g,
    instead: 'give the number, the limit or the timeout',
  },
  {
    name: 'anew, besides, meanwhile, thereof, beside, alike',
    pattern: /\b(?:anew|besides|meanwhile|thereof|thereby|beside|afresh|alike|alone(?= (?:may|can|has|have|is|are|that|knows?)))\b/gi,
    instead: 'again, also, during this time, next to',
  },
  { name: 'none as a predicate', pattern: /\b(?:is|are|was|that|has|have) none\b/g, instead: 'say that the thing is missing or invalid' },
  { name: 'any more, no more, not so', pattern: /\b(?:any more|no more|not so)\b/g, instead: 'no longer' },
  {
    name: 'things that stand, lie, rest or go on',
    pattern:
      /\b(?:goes on|go on|went on|going on|stands?|stood|lies|lay|rests?|rested) (?:in|on|at|by|beside|behind|before|with|from|as|for|under|over|there|of|where|what|until|while|being)\b/g,
    instead: 'is stored, is queued, is paused, continues',
  },
  {
    name: 'behind and before for a time or an order',
    pattern: /\b(?:behind|before) (?:it|them|that|which|its|the (?:end|dot|last|first|commit))\b/g,
    instead: 'after, earlier, followed by',
  },
  {
    name: 'those that, one that, ones of',
    pattern: /\b(?:[Tt]hose|[Oo]nes?|[Aa]nother one) (?:that|who|whose|which|of|with|without)\b/g,
    instead: 'repeat the noun',
  },
  { name: 'of its own', pattern: /\bof (?:its|their|one's|his) own\b/g, instead: 'own, separate, a dedicated' },
  {
    name: 'by which, of which, to whom',
    pattern: /\b(?:by|of|in|to|with|for|from|at|under|through|on|behind|before|after) (?:which|whom|whose)\b/g,
    instead: 'split the sentence',
  },
  {
    name: 'whatever, wherever, whichever, however many',
    pattern: /\b(?:[Ww]hatever|[Ww]herever|[Ww]hichever|however (?:many|long|often|large|old|slow))\b/g,
    instead: 'any, every, regardless of',
  },
  {
    name: 'as ever, as before, like any other',
    pattern: /\b(?:as ever|like any other|as any other|as before|as others do|as it was)\b/g,
    instead: 'say what stays the same',
  },
  {
    name: 'a riddle in the passive',
    pattern:
      /\b(?:is|are|was|were|be|been) (?:looked (?:at|for|up)|asked|taken|given|made|shown|kept|held|left|found|waited for|gone through|counted|meant|begun|known|said|named|read|had)\b/g,
    instead: 'name the actor and use an active verb: reads, stores, creates, returns',
  },
]
