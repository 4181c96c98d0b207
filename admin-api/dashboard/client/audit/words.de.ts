/** German: the audit log. */
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const de: Wider<typeof en> = {
  title: 'Protokoll',
  failed: 'Das Protokoll konnte nicht gelesen werden',
  empty: 'Noch wurde nichts geändert',
  emptyText: 'Wer eine Einstellung, einen Schlüssel oder ein Mitglied ändert, steht hier, mit was und wann.',
  nothingMatches: 'Kein Eintrag passt',
  nothingMatchesText: 'Ohne diese Filter kann es Einträge geben.',
  act: 'Handlung',
  actHint: 'destination.created',
  actor: 'Wer',
  anyone: 'Alle',
  target: 'Objekt',
  targetHint: 'Seine Id',
  since: 'Ab (UTC)',
  until: 'Bis (UTC)',
  filter: 'Filtern',
  time: 'Zeit',
  project: 'Projekt',
  wholeOrganization: 'ganze Organisation',
  details: 'Einzelheiten',
  entry: 'Eintrag des Protokolls',
  showEntry: (act) => `${act} zeigen`,
  sameTarget: 'Alles zu diesem Objekt',
  sameActor: 'Alles von dieser Person oder diesem Schlüssel',
  address: 'IP-Adresse',
  changes: 'Was sich änderte',
  field: 'Feld',
  before: 'Vorher',
  after: 'Nachher',
}
