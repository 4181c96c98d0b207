/** German: one trace. */
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const de: Wider<typeof en> = {
  waitsForApproval: 'Sie wartet, bis ein Mitglied sie freigegeben hat.',
  lookAndDecide: 'Ansehen und entscheiden',
  lookOnly: 'Ansehen',
  noMessage: 'Es gibt keine Nachricht zu zeigen.',
  saveMessage: 'Als .eml speichern',
  openTrace: 'Ihren Trace öffnen',
  capturedFirst: 'Die abgefangene Nachricht',
  labels: 'Tags und Metadaten',
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
  hideDiagnosis: 'Diagnose ausblenden',
}
