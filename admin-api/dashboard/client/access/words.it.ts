/** Italian: details of keys and logins. */
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const it: Wider<typeof en> = {
  settings: 'Impostazioni per un programma',
  host: 'Server',
  ports: 'Porte',
  password: 'Password',
  passwordOnce: 'Mostrata una volta alla creazione; ruotala per averne una nuova.',
  recipe: 'Programma',
  limits: 'Che cosa può fare',
  edit: 'Modifica le impostazioni',
  saved: 'Il login è salvato.',
  headerFrom: 'Controlla anche il campo From',
  size: 'Messaggio più grande',
  sizeBytes: 'Messaggio più grande, in byte',
  asService: 'come il servizio',
  clicks: 'Traccia i clic',
  opens: 'Traccia le aperture',
  on: 'sì',
  off: 'no',
  would: 'Che cosa accadrebbe alla sua posta',
  emptyNone: 'Vuoto per nessun limite proprio',
  until: 'Valido fino al (UTC)',
  emptyNever: 'Una data come 2027-12-31; vuoto per sempre',
  trackingHint: 'Non tutti i piani hanno il tracciamento; il salvataggio lo dice.',
  createdBy: 'Creata da',
  lastLogin: 'Ultimo accesso',
}
