/** German: publishable keys. */
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const de: Wider<typeof en> = {
  publishableFailed: 'Die veröffentlichbaren Schlüssel konnten nicht gelesen werden',
  noPublishable: 'Noch kein veröffentlichbarer Schlüssel',
  noPublishableText:
    'Er darf im Quelltext einer Webseite stehen. Fünf Tore schützen ihn: die Seite, die Empfänger, ein Absender, Zeitfenster und auf Wunsch ein Captcha.',
  newPublishable: 'Neuer veröffentlichbarer Schlüssel',
  origins: 'Seiten',
  originsHint: 'Ursprünge, einer pro Zeile: https://www.example.com',
  recipients: 'Empfänger',
  recipientsHint: 'Adressen oder @Domains, eine pro Zeile',
  sender: 'Absender',
  rate: 'Rate',
  rateOf: (ip, day) => `${ip} pro Stunde und Besucher, ${day} am Tag`,
  strict: 'streng: 3 pro Stunde und Besucher, 300 am Tag',
  normal: 'normal: 10 pro Stunde und Besucher, 1000 am Tag',
  loose: 'locker: 20 pro Stunde und Besucher, 2000 am Tag',
  captcha: 'Captcha',
  noCaptcha: 'keines',
  siteKey: 'Website-Schlüssel',
  captchaSecret: 'Geheimnis des Captchas',
  publishableNote: 'Er ist nicht geheim, steht aber nur in deiner Seite. Wird er missbraucht, erneuere ihn.',
  snippet: 'Code für die Seite',
  snippetOf: (name) => `Code für ${name}`,
  snippetText: 'Füge ihn in eine Seite dieser Ursprünge ein, mit dem Schlüssel anstelle von YOUR_KEY.',
  rotateHint: 'Seiten mit dem alten können nicht mehr senden.',
  pages: 'Webseiten',
  useOf: (name: string) => `Was ${name} gesendet hat`,
  useFailed: 'Die Nutzung des Schlüssels konnte nicht gelesen werden',
  useNone: 'In 30 Tagen wurde nichts gesendet und nichts abgelehnt.',
  captured: 'abgefangen',
  sendsOfKey: 'Sendungen in 30 Tagen',
  perDay: 'pro Tag, nach Ausgang',
  refusedBy: 'Abgelehnt, nach Prüfung',
}
