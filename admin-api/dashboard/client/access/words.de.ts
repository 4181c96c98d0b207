/** German: details of keys and logins. */
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const de: Wider<typeof en> = {
  settings: 'Einstellungen für ein Programm',
  host: 'Server',
  ports: 'Ports',
  password: 'Passwort',
  passwordOnce: 'Wird einmal gezeigt, wenn das Login entsteht; für ein neues erneuere es.',
  recipe: 'Programm',
  limits: 'Was es darf',
  edit: 'Einstellungen ändern',
  saved: 'Das Login ist gespeichert.',
  headerFrom: 'Prüft auch das From-Feld',
  size: 'Grösste Nachricht',
  sizeBytes: 'Grösste Nachricht, in Bytes',
  asService: 'wie der Dienst',
  clicks: 'Verfolgt Klicks',
  opens: 'Verfolgt Öffnungen',
  on: 'an',
  off: 'aus',
  would: 'Was mit seiner Post geschähe',
  emptyNone: 'Leer für keine eigene Grenze',
  until: 'Gültig bis (UTC)',
  emptyNever: 'Ein Datum wie 2027-12-31; leer für immer',
  trackingHint: 'Nicht jeder Plan hat Tracking; wo es fehlt, sagt es das Speichern.',
  createdBy: 'Erstellt von',
  lastLogin: 'Letzte Anmeldung',
}
