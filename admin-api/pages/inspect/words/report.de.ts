/** German: the page of a report. */
import { de as sentences } from './checks.de.ts'
import { de as names } from './names.de.ts'
import type { ReportWords } from './report-words.ts'

export const de: ReportWords = {
  lang: 'de',
  waiting: {
    title: 'Wartet auf deine Mail',
    text: 'Sende eine Mail an diese Adresse, so wie du sie an andere sendest:',
    until: ['Die erste Mail, die bis', 'kommt, wird geprüft. Diese Seite zeigt den Bericht von selbst.'],
  },
  expired: {
    title: 'Keine Mail kam',
    text: ['Die Adresse dieses Tests nahm bis', 'Mail an, und keine kam. Mach einen neuen Test und sende an seine Adresse.'],
  },
  failed: { title: 'Die Mail konnte nicht geprüft werden', text: 'Mach einen neuen Test und sende die Mail noch einmal.' },
  scoring: {
    title: 'Deine Mail wird geprüft',
    text: 'Sie ist da. Das DNS wird nach dem Absender gefragt; das dauert einige Sekunden, dann zeigt diese Seite den Bericht.',
  },
  nothing: { title: 'Hier ist nichts', text: 'Unter dieser Adresse ist kein Bericht. Prüfe, ob sie vollständig ist.' },
  score: (score, grade) => `${grade}, ${score} von 100`,
  gradeOf: (grade) => `Note ${grade}`,
  points: (score, grade) => `${score} von 100 Punkten, Note ${grade}`,
  verdicts: {
    A: 'Bereit für den Posteingang',
    B: 'Gut, mit einigen Ecken',
    C: 'Sie kann im Spam landen',
    D: 'Sie wird oft im Spam landen',
    F: 'Viele Empfänger werden sie ablehnen',
  },
  partialVerdict: 'Gut, soweit es sich prüfen liess',
  noSubject: '(kein Betreff)',
  noSender: '(kein Absender)',
  nameless: 'einem Server ohne Namen',
  received: ['Von', 'empfangen', 'von'],
  counted: { fail: 'nicht bestanden', warn: 'verbesserbar', pass: 'bestanden', na: 'nicht gezählt' },
  signs: { pass: 'Bestanden', warn: 'Könnte besser sein', fail: 'Nicht bestanden', na: 'Zählt nicht' },
  later: (count) => `${count} weitere kamen später; nur die erste Mail wird geprüft.`,
  partial: {
    title: 'Das DNS antwortete nicht auf alle Fragen',
    text: 'Wozu es schwieg, zählt nicht, sodass die Punkte weniger zeigen, als sie sollten. Das ist kein Fehler der Mail: Mach in einigen Minuten einen neuen Test.',
  },
  capped: (limit) => `Mehr als ${limit} Punkte sind jetzt nicht möglich`,
  cap: (limit) => `Es sind höchstens ${limit}.`,
  mend: 'Was zu verbessern ist, nach Punkten',
  nothingToMend: 'Es gibt nichts zu verbessern. Behalte im Auge, wie viele Leser sich beschweren.',
  plus: (points) => `+${points} ${points === 1 ? 'Punkt' : 'Punkte'}`,
  doThis: 'Zu tun:',
  all: (count) => `Alle ${count} Prüfungen`,
  doesNotCount: 'zählt nicht',
  of: (points, max) => `${points} von ${max}`,
  readOn: 'Weiterlesen:',
  rules: 'Was grosse Empfänger verlangen',
  rulesText:
    'Regeln für Massenmail gelten für Absender von mehr als 5’000 Mails am Tag; sie einzuhalten hilft allen. Mit dem Code lehnt ein Empfänger Mail ab, die die Regel verfehlt.',
  misses: (missed, all) => `verfehlt ${missed} von ${all} Regeln`,
  notKnown: (unknown, all) => `${unknown} von ${all} Regeln nicht bekannt`,
  allMet: (all) => `alle ${all} Regeln erfüllt`,
  rule: { met: 'erfüllt', missed: 'verfehlt', unknown: 'nicht bekannt', not_applicable: 'nicht für diese Mail' },
  bulk: 'Massenmail',
  notCheckable: 'nicht prüfbar',
  advised: 'empfohlen',
  groups: names.groups,
  ...{ checks: names.checks, ruleNames: names.rules, caps: names.caps, problems: names.problems, sentences },
}
