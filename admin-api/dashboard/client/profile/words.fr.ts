/** French: the profile. */
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const fr: Wider<typeof en> = {
  say: (email) => `Vous êtes ${email}.`,
  sayText: 'Chaque lien de connexion prouve l’adresse ; elle ne se change pas.',
  account: 'Compte',
  accountText: 'Votre nom, vos clés d’accès et les navigateurs où vous êtes connecté ; vous pouvez mettre fin à chacun.',
  accountLink: 'Nom, clés d’accès et sessions',
  applicationsText: 'Les applications et agents qui agissent pour vous, et comment leur retirer cet accès.',
  applicationsLink: 'Applications autorisées',
  browser: 'Dans ce navigateur',
  browserText: 'Conservé ici et nulle part ailleurs.',
  roles: 'Vos rôles',
  failed: 'Votre organisation n’a pas pu être lue',
  manage: 'Vos organisations',
}
