/** German: webhook endpoints. */
import { number } from '../parts/time.ts'
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const de: Wider<typeof en> = {
  edit: 'Endpunkt ändern',
  pause: 'Anhalten',
  resume: 'Fortsetzen',
  pausedNow: 'Der Endpunkt ruht; seine Ereignisse warten.',
  resumedNow: 'Der Endpunkt nimmt wieder Ereignisse an.',
  saved: 'Der Endpunkt ist gespeichert.',
  remove: 'Endpunkt löschen',
  removeEffect: 'Wartende Ereignisse werden nicht mehr zugestellt; sein Protokoll geht mit ihm.',
  success: 'Gelungen, letzte 24 h',
  failures: 'Gescheiterte Versuche, letzte 24 h',
  parked: 'Geparkt, letzte 24 h',
  verify: 'Wie ein Empfänger die Signatur prüft',
  format: 'Format',
  formatUnsigned: 'Dieser Dienst signiert nichts: gib der Adresse ein Login, https://user:password@…',
  formatKey: 'Es signiert mit einem Schlüsselpaar; die Seite des Endpunkts zeigt den öffentlichen Schlüssel.',
  formatSns: 'Es signiert mit einem Zertifikat, das hier liegt; Empfänger, die nur Hosts von AWS annehmen, weisen es ab.',
  formatSecret: 'Es signiert mit dem Geheimnis.',
  formatLacks: 'Für auto_suppressed hat es kein Ereignis.',
  verificationKey: 'Prüfschlüssel',
  carries: 'Trägt',
  ofAttempts: (n: number) => (n === 1 ? 'von 1 Versuch' : `von ${number(n)} Versuchen`),
  lastDay: '24 h',
  unpark: 'Wieder zustellen',
  unparked: 'Nicht mehr geparkt: Der Zeitplan beginnt von vorn.',
  parkedShort: 'Geparkt',
  lastCode: 'Letzter Code',
  noneFits: 'Keine Zustellung passt zu den Filtern',
  noneFitsYet: 'Keine unter den neuesten; ältere sind noch nicht durchsucht.',
  noneFitsText: 'Ohne sie zeigt die Liste jede Zustellung.',
  redeliveredAll: (n: number) => (n === 1 ? '1 Ereignis wird nochmals zugestellt.' : `${number(n)} Ereignisse werden nochmals zugestellt.`),
}
