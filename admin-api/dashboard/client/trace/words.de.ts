/** German: one trace. */
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const de: Wider<typeof en> = {
  noMessage: 'Es gibt keine Nachricht zu zeigen.',
  saveMessage: 'Als .eml speichern',
  openTrace: 'Ihren Trace öffnen',
  capturedFirst: 'Die abgefangene Nachricht',
  share: 'Teilen…',
  shareTitle: 'Diesen Trace teilen',
  shareText: 'Wer den Link hat, sieht dies und sonst nichts, ohne Anmeldung.',
  shareFailed: 'Die geteilte Ansicht konnte nicht gelesen werden',
  leftOut: 'Weggelassen',
  leftOutText: 'Betreff, Absender, Inhalt, ganze Adressen, Blindkopien, Beschwerden, Öffnungen und Klicks, und was Server sagten',
  copyLink: 'Link kopieren',
  openLink: 'Link öffnen',
  provider: 'Anbieter',
  diagnose: 'Diagnose',
  diagnosis: 'Diagnose',
  diagnosisFailed: 'Die Diagnose war nicht möglich',
  diagnosisOf: 'Empfänger',
  hideDiagnosis: 'Diagnose ausblenden',
  evidence: 'Belege',
  notChecked: 'Nicht geprüft',
  nothingFound: 'Nichts spricht gegen die Zustellung.',
  stage: 'Schritt',
  category: 'Ursache',
  sameReply: 'Gleiche Antwort in den letzten 24 Stunden',
  retryUseful: 'Ein weiterer Versuch kann helfen.',
  retryUseless: 'Ein weiterer Versuch hilft nicht.',
}
