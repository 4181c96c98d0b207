/** French: why a message went where it went. */
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const fr: Wider<typeof en> = {
  someDestination: 'qui n’existe plus',
  request: (destination) => `La requête nomme la destination ${destination}.`,
  requestEnvironment: (environment, destination) =>
    `La requête nomme l’environnement ${environment}, dans lequel ${destination} est choisie.`,
  credential: (destination) => `L’identifiant SMTP nomme la destination ${destination}.`,
  credentialEnvironment: (environment, destination) =>
    `L’identifiant SMTP nomme l’environnement ${environment}, dans lequel ${destination} est choisie.`,
  rule: (rule, destination) => `La règle ${rule} mène à la destination ${destination}.`,
  ruleEnvironment: (rule, environment, destination) =>
    `La règle ${rule} mène à l’environnement ${environment}, dans lequel ${destination} est choisie.`,
  project: (environment, destination) =>
    `Aucune règle ne convient. Le projet a l’environnement ${environment}, dans lequel ${destination} est choisie.`,
  orgDefault: (destination) => `Aucune règle ne convient ; le message va à l’expéditeur par défaut de l’organisation, ${destination}.`,
  none: 'Aucune règle ne convient, et il n’y a pas d’expéditeur par défaut.',
  ruleNot: (rule) => `La règle ${rule} ne convient pas.`,
  ruleGone: (rule) => `La règle ${rule} convient, mais sa destination n’existe plus.`,
  claimed: 'Le projet est rattaché.',
  noDefault: 'Il n’y a pas d’expéditeur par défaut.',
  noneSuppressed: 'Aucun destinataire n’est bloqué.',
  takesMail: (destination) => `La destination ${destination} accepte du courrier maintenant.`,
  notRouted: 'Le message a été refusé avant d’être acheminé.',
  anyMail: 'pour tout expéditeur',
  priority: (priority) => `priorité ${String(priority)}`,
  anonymous: 'Le projet n’est pas encore rattaché : tous ses envois sont capturés.',
  sandbox: (destination) => `La destination ${destination} est en mode sandbox ; mettez-la en service pour relayer.`,
  agent: 'Le jeton de cet agent n’envoie que dans la sandbox.',
  test: 'C’est un test de modèle, qui est toujours capturé.',
  proof: (destination) => `C’est un test de délivrabilité de ${destination}, relayé même depuis une sandbox.`,
  live: (destination) => `La destination ${destination} est en service.`,
  noRoute: 'Aucune destination ne convient, et le projet capture ce qui n’a pas de route.',
}
