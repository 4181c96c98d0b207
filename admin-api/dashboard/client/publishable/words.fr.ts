/** French: publishable keys. */
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const fr: Wider<typeof en> = {
  publishableFailed: 'Les clés publiables n’ont pas pu être lues',
  noPublishable: 'Pas encore de clé publiable',
  noPublishableText:
    'Elle peut figurer dans le code d’une page. Cinq portes la gardent : la page, les destinataires, un expéditeur, des fenêtres de temps, et un captcha au besoin.',
  newPublishable: 'Nouvelle clé publiable',
  origins: 'Pages',
  originsHint: 'Origines, une par ligne : https://www.example.com',
  recipients: 'Destinataires',
  recipientsHint: 'Adresses ou @domaines, une par ligne',
  sender: 'Expéditeur',
  rate: 'Débit',
  rateOf: (ip, day) => `${ip} par heure et visiteur, ${day} par jour`,
  strict: 'strict : 3 par heure et visiteur, 300 par jour',
  normal: 'normal : 10 par heure et visiteur, 1000 par jour',
  loose: 'souple : 20 par heure et visiteur, 2000 par jour',
  captcha: 'Captcha',
  noCaptcha: 'aucun',
  siteKey: 'Clé du site',
  captchaSecret: 'Secret du captcha',
  publishableNote: 'Elle n’est pas secrète, mais figure dans votre page seule. En cas d’abus, renouvelez-la.',
  snippet: 'Code pour la page',
  snippetOf: (name) => `Code pour ${name}`,
  snippetText: 'Collez-le dans une page de ces origines, avec la clé à la place de YOUR_KEY.',
  rotateHint: 'Les pages avec l’ancienne ne peuvent plus envoyer.',
  pages: 'Pages web',
  useOf: (name: string) => `Ce que ${name} a envoyé`,
  useFailed: 'L’usage de la clé n’a pas pu être lu',
  useNone: 'Rien n’a été envoyé ni refusé en 30 jours.',
  captured: 'capturés',
  sendsOfKey: 'Envois en 30 jours',
  perDay: 'par jour, selon l’issue',
  refusedBy: 'Refusés, par contrôle',
}
