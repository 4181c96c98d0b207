/** Italian: the page of a report. */
import { it as sentences } from './checks.it.ts'
import { it as names } from './names.it.ts'
import type { ReportWords } from './report-words.ts'

export const it: ReportWords = {
  lang: 'it',
  waiting: {
    title: 'In attesa del tuo messaggio',
    text: 'Invia un messaggio a questo indirizzo, come lo invii ad altri:',
    until: ['Il primo messaggio che arriva entro il', 'viene verificato. Questa pagina mostra il rapporto da sola.'],
  },
  expired: {
    title: 'Nessun messaggio è arrivato',
    text: ['L’indirizzo di questo test accettava posta fino al', 'e nulla è arrivato. Fai un nuovo test e scrivi al suo indirizzo.'],
  },
  failed: { title: 'Il messaggio non ha potuto essere verificato', text: 'Fai un nuovo test e invia di nuovo il messaggio.' },
  scoring: {
    title: 'Il tuo messaggio viene verificato',
    text: 'È arrivato. Si chiede al DNS del suo mittente; ci vuole qualche secondo, poi questa pagina mostra il rapporto.',
  },
  nothing: { title: 'Qui non c’è nulla', text: 'A questo indirizzo non c’è alcun rapporto. Controlla che sia completo.' },
  score: (score, grade) => `${grade}, ${score} su 100`,
  gradeOf: (grade) => `voto ${grade}`,
  points: (score, grade) => `${score} punti su 100, voto ${grade}`,
  verdicts: {
    A: 'Pronto per la posta in arrivo',
    B: 'Buono, con qualche spigolo',
    C: 'Può finire nello spam',
    D: 'Finirà spesso nello spam',
    F: 'Molti destinatari lo rifiuteranno',
  },
  partialVerdict: 'Buono, per quanto si è potuto verificare',
  noSubject: '(senza oggetto)',
  noSender: '(senza mittente)',
  nameless: 'un server senza nome',
  received: ['Da', 'ricevuto', 'da'],
  counted: { fail: 'non superati', warn: 'migliorabili', pass: 'superati', na: 'non contati' },
  signs: { pass: 'Superato', warn: 'Migliorabile', fail: 'Non superato', na: 'Non conta' },
  later: (count) => `Altri ${count} sono arrivati dopo; solo il primo messaggio è verificato.`,
  partial: {
    title: 'Il DNS non ha risposto a tutte le domande',
    text: 'Ciò che ha taciuto non conta, così i punti mostrano meno di quanto dovrebbero. Non è colpa del messaggio: fai un nuovo test fra qualche minuto.',
  },
  capped: (limit) => `Ora i punti non possono superare ${limit}`,
  cap: (limit) => `Al massimo ${limit}.`,
  mend: 'Che cosa migliorare, per punti',
  nothingToMend: 'Non c’è nulla da migliorare. Tieni d’occhio quanti lettori si lamentano.',
  plus: (points) => `+${points} ${points === 1 ? 'punto' : 'punti'}`,
  doThis: 'Da fare:',
  all: (count) => `Tutte le ${count} verifiche`,
  doesNotCount: 'non conta',
  of: (points, max) => `${points} su ${max}`,
  readOn: 'Per saperne di più:',
  rules: 'Che cosa chiedono i grandi destinatari',
  rulesText:
    'Le regole per gli invii di massa valgono oltre i 5’000 messaggi al giorno; rispettarle aiuta tutti. Un codice è il modo in cui un destinatario rifiuta la posta che non rispetta la regola.',
  misses: (missed, all) => `non rispetta ${missed} ${missed === 1 ? 'regola' : 'regole'} su ${all}`,
  notKnown: (unknown, all) => (unknown === 1 ? `1 regola su ${all} non nota` : `${unknown} regole su ${all} non note`),
  allMet: (all) => `tutte le ${all} regole rispettate`,
  rule: { met: 'rispettato', missed: 'non rispettato', unknown: 'non noto', not_applicable: 'non per questo messaggio' },
  bulk: 'invii di massa',
  notCheckable: 'non verificabile',
  advised: 'consigliato',
  groups: names.groups,
  ...{ checks: names.checks, ruleNames: names.rules, caps: names.caps, problems: names.problems, sentences },
}
