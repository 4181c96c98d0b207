/** Italian: publishable keys. */
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const it: Wider<typeof en> = {
  publishableFailed: 'Non è stato possibile leggere le chiavi pubblicabili',
  noPublishable: 'Ancora nessuna chiave pubblicabile',
  noPublishableText:
    'Può stare nel codice di una pagina. Cinque porte la proteggono: la pagina, i destinatari, un mittente, finestre di tempo e, se vuole, un captcha.',
  newPublishable: 'Nuova chiave pubblicabile',
  origins: 'Pagine',
  originsHint: 'Origini, una per riga: https://www.example.com',
  recipients: 'Destinatari',
  recipientsHint: 'Indirizzi o @domini, uno per riga',
  sender: 'Mittente',
  rate: 'Frequenza',
  rateOf: (ip, day) => `${ip} all’ora per visitatore, ${day} al giorno`,
  strict: 'severo: 3 all’ora per visitatore, 300 al giorno',
  normal: 'normale: 10 all’ora per visitatore, 1000 al giorno',
  loose: 'largo: 20 all’ora per visitatore, 2000 al giorno',
  captcha: 'Captcha',
  noCaptcha: 'nessuno',
  siteKey: 'Chiave del sito',
  captchaSecret: 'Segreto del captcha',
  publishableNote: 'Non è segreta, ma sta solo nella sua pagina. In caso di abuso, la rinnovi.',
  snippet: 'Codice per la pagina',
  snippetOf: (name) => `Codice per ${name}`,
  snippetText: 'Lo incolli in una pagina di queste origini, con la chiave al posto di YOUR_KEY.',
  rotateHint: 'Le pagine con la vecchia non possono più inviare.',
  pages: 'Pagine web',
  useOf: (name: string) => `Che cosa ha inviato ${name}`,
  useFailed: 'L’uso della chiave non è stato letto',
  useNone: 'In 30 giorni non è stato inviato né rifiutato nulla.',
  captured: 'catturati',
  sendsOfKey: 'Invii in 30 giorni',
  perDay: 'al giorno, per esito',
  refusedBy: 'Rifiutati, per controllo',
}
