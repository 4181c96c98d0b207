/** Français. */
import { number } from '../parts/time.ts'
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const fr: Wider<typeof en> = {
  say: (count) =>
    count === 0 ? 'Aucune application n’a accès.' : count === 1 ? 'Une application a accès.' : `${number(count)} applications ont accès.`,
  sayText:
    'Les agents et autres programmes demandent d’abord à une personne, travaillent dans un projet et ne dépassent jamais le rôle de qui les a admis.',
  failed: 'Les applications ne peuvent pas être affichées.',
  noneText: 'Connectez un agent avec l’adresse de cette page. Il ouvre une page où vous choisissez un projet et ce qu’il peut faire.',
  application: 'Application',
  unverified: 'nom non vérifié',
  allowedBy: 'Admise par',
  lastCall: 'Dernier appel',
  neverCalled: 'pas encore',
  revoke: 'Révoquer',
  revokeNamed: (name) => `Révoquer ${name}`,
  revokeTitle: (name) => `Révoquer l’accès de ${name}`,
  revokeEffect: (project) => `Tous ses jetons pour le projet ${project} prennent fin aussitôt. Pour revenir, elle doit redemander.`,
  revokeKeys: 'Les clés API qu’elle a créées prennent fin avec elle.',
  revokeStays: 'Les accès SMTP et les clés publiables qu’elle a créés restent : vérifiez-les.',
  revoked: (name, keys) =>
    keys === 0 ? `${name} n’a plus accès.` : `${name} et ${keys === 1 ? 'une clé' : `${number(keys)} clés`} n’ont plus accès.`,
  connect: 'Connecter un agent',
  connectText: 'Donnez cette adresse à l’agent comme serveur MCP distant. Rien n’est installé, aucune clé n’est copiée.',
  address: 'Adresse MCP',
  client: 'Programme',
  otherClient: 'JSON',
  inFile: (file) => `Dans ${file} :`,
  inTerminal: 'Dans un terminal :',
  waiting: 'Agents qui vous attendent',
  waitingText: (email) =>
    `Un agent travaille dans une sandbox et a demandé à ${email} de la rattacher. Ne la rattachez que s’il montre le même code.`,
  noneWaiting: (email) => `Aucun agent n’a demandé ${email} ces 30 dernières minutes.`,
  askedAt: (at) => `demandé : ${at}`,
  attach: 'Rattacher',
  attachCode: (code) => `Rattacher ${code}`,
  haveCode: 'J’ai un code',
  code: 'Code',
  codeHint: 'Seulement un code que montre votre propre agent, comme KITE-4207.',
}
