/** Italian: the audit log. */
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const it: Wider<typeof en> = {
  title: 'Registro',
  failed: 'Impossibile leggere il registro',
  empty: 'Non è ancora stato cambiato nulla',
  emptyText: 'Chi cambia un’impostazione, una chiave o un membro è qui, con che cosa e quando.',
  nothingMatches: 'Nessuna voce corrisponde',
  nothingMatchesText: 'Senza questi filtri ce ne possono essere.',
  act: 'Azione',
  actHint: 'destination.created',
  actor: 'Chi',
  anyone: 'Tutti',
  target: 'Oggetto',
  targetHint: 'Il suo id',
  since: 'Da (UTC)',
  until: 'A (UTC)',
  filter: 'Filtra',
  time: 'Ora',
  project: 'Progetto',
  wholeOrganization: 'tutta l’organizzazione',
  details: 'Dettagli',
  entry: 'Voce del registro',
  showEntry: (act) => `Mostra ${act}`,
  sameTarget: 'Tutto su questo oggetto',
  sameActor: 'Tutto di questa persona o chiave',
  address: 'Indirizzo IP',
  changes: 'Che cosa è cambiato',
  field: 'Campo',
  before: 'Prima',
  after: 'Dopo',
}
