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
  keys: 'Touches simples',
  keysText: 'Allez dans un champ et appuyez sur la touche voulue.',
  keysReset: 'Comme avant',
  keyNames: {
    '/': 'Chercher dans cette liste',
    j: 'Entrée suivante',
    k: 'Entrée précédente',
    x: 'Choisir une entrée',
    '[': 'Précédente, aussi dans le panneau',
    ']': 'Suivante, aussi dans le panneau',
    c: 'Créer',
    e: 'Enregistrer en fichier',
    u: 'Marquer comme non lu',
    r: 'Refaire : vérifier, rejouer, remettre',
    s: 'Partager une trace',
    t: 'Tester une destination',
    a: 'Rattacher un bac à sable',
    g: 'Première touche vers un écran',
    '?': 'Montrer toutes les touches',
    '\\': 'Navigation étroite ou large',
  },
}
