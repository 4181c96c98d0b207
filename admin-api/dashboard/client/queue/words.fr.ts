/** Français. */
import { number } from '../parts/time.ts'
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

const messages = (n: number): string => (n <= 1 ? `${number(n)} message` : `${number(n)} messages`)

export const fr: Wider<typeof en> = {
  failed: 'La file d’attente n’a pas pu être lue',
  nothing: 'Rien n’attend',
  nothingText:
    'Les messages restent ici jusqu’à ce qu’une destination les prenne : jusqu’à leur tour, à la prochaine tentative après un report, ou à leur heure.',
  say: (n, held, isMore) =>
    `${isMore ? 'Au moins ' : ''}${messages(n)} dans la file d’attente${held > 0 ? `, dont ${number(held)} en suspens` : ''}.`,
  sayText:
    'Ce qui est en suspens le reste jusqu’à sa libération. Les messages qui seront capturés, ou qui attendent une approbation, ne sont pas ici.',
  all: 'Tous',
  heldOnly: 'En suspens',
  notHeld: 'Pas en suspens',
  acts: 'Interventions',
  filter: 'Filtrer',
  organization: 'Organisation',
  inQueueOf: (organization) => `Dans la file d’attente de ${organization}.`,
  project: 'Projet',
  destination: 'Destination',
  every: 'toutes',
  toDomain: 'Domaine du destinataire',
  from: 'Expéditeur',
  fromHint: 'une adresse ou @domaine',
  age: 'Attend depuis',
  ages: { '': 'peu importe', '15m': 'plus de 15 minutes', '1h': 'plus d’une heure', '6h': 'plus de 6 heures', '24h': 'plus d’un jour' },
  attempts: 'Tentatives, au moins',
  lanes: 'Par destination et projet',
  held: 'En suspens',
  state: 'État',
  states: {
    due: 'attend son tour',
    attempting: 'tentative en cours',
    retry: 'attend une nouvelle tentative',
    scheduled: 'programmé',
    held: 'en suspens',
  },
  message: 'Message',
  next: 'Prochaine tentative',
  lastReply: 'Dernière réponse',
  heldBy: (by, reason) => (reason === '' ? `suspendu par ${by}` : `suspendu par ${by} : ${reason}`),
  verbs: { hold: 'Suspendre', release: 'Libérer', expedite: 'Essayer maintenant', drop: 'Abandonner' },
  questions: {
    hold: (n) => `Suspendre ${messages(n)} ?`,
    release: (n) => `Libérer ${messages(n)} ?`,
    expedite: (n) => `Essayer ${messages(n)} maintenant ?`,
    drop: (n) => `Abandonner ${messages(n)} ?`,
  },
  effects: {
    hold: 'Aucune nouvelle tentative ne commence avant leur libération, même après un redémarrage. Les messages acceptés plus tard ne sont pas concernés.',
    release: 'Ils sont de nouveau dus, tout de suite ou à leur heure, dans les limites de leur destination.',
    expedite:
      'Les nouvelles tentatives en attente sont dues maintenant. Les limites de débit et les destinations au repos restent ; les envois programmés aussi.',
    drop: 'Les destinataires qui n’ont pas le message ne le recevront pas. Aucune tentative ni aucun renvoi ne le ramène.',
  },
  reason: 'Raison',
  reasonHint: 'Figure dans la trace de chaque message et dans le journal d’audit.',
  countFailed: 'Les messages ne peuvent pas être comptés.',
  noneMatches: 'Aucun message ne correspond.',
  isMore:
    'Il y en a plus que ce qui est compté à la fois ; l’intervention s’arrête là où le compte s’est arrêté, et peut être répétée pour le reste.',
  begun: {
    hold: 'Ils sont en train d’être suspendus.',
    release: 'Ils sont en train d’être libérés.',
    expedite: 'Ils sont en train d’être essayés.',
    drop: 'Ils sont en train d’être abandonnés.',
  },
  undone: 'Ce qu’elle suspend est en train d’être libéré.',
  actsFailed: 'Les interventions n’ont pas pu être lues',
  noActs: 'Personne n’est encore intervenu sur la file d’attente',
  noActsText: 'Qui suspend, libère, essaie maintenant ou abandonne des messages figure ici, avec l’avancement de l’intervention.',
  actsSay: (running) =>
    running === 0
      ? 'Aucune intervention n’est en cours.'
      : running === 1
        ? 'Une intervention est en cours.'
        : `${number(running)} interventions sont en cours.`,
  actsText: 'Trois au plus à la fois. Une intervention arrêtée laisse ce qu’elle a fait.',
  when: 'Commencée',
  act: 'Intervention',
  which: 'Messages',
  everything: 'toute la file d’attente',
  parts: {
    to: 'à',
    from: 'de',
    via: 'par',
    before: 'acceptés avant',
    after: 'acceptés depuis',
    attempts: 'tentatives au moins',
    project: 'de',
    heldBy: 'suspendus par',
  },
  chosen: (n) => (n <= 1 ? `${messages(n)} choisi` : `${messages(n)} choisis`),
  statuses: { preview: 'aperçu', running: 'en cours', stopped: 'arrêtée', finished: 'terminée' },
  done: 'Faits',
  inFlight: 'À la fin de leur tentative',
  skipped: 'Sautés',
  skippedText: 'ne s’applique pas à eux',
  by: 'Par',
  title: 'Intervention sur la file d’attente',
  stop: 'Arrêter',
  stopped: 'L’intervention est arrêtée.',
  stoppedBecause: 'Arrêtée.',
  releaseThese: 'Libérer ce qu’elle suspend',
  moreRemain: 'Il en reste : l’intervention s’est arrêtée là où son compte s’est arrêté.',
  runningSay: (n) => `${messages(n)} jusqu’ici.`,
  finishedSay: {
    hold: (n) => (n <= 1 ? `${messages(n)} suspendu.` : `${messages(n)} suspendus.`),
    release: (n) => (n <= 1 ? `${messages(n)} libéré.` : `${messages(n)} libérés.`),
    expedite: (n) => (n <= 1 ? `${messages(n)} rendu dû.` : `${messages(n)} rendus dus.`),
    drop: (n) => (n <= 1 ? `${messages(n)} abandonné.` : `${messages(n)} abandonnés.`),
  },
  stoppedSay: (n) => `Arrêtée après ${messages(n)}.`,
  sayAct: 'La trace de chaque message dit qui l’a fait, quand et pourquoi.',
  inAudit: 'Dans le journal d’audit',
  heldNow: 'Ce qu’elle suspend maintenant',
  standing: 'Suspensions permanentes',
  moreHolds: 'Autres suspensions permanentes',
  theOperator: 'l’exploitant du service',
  allMail: 'tous les messages, et ceux à venir',
  holdComing: 'Suspendre aussi ce qui vient',
  holdQuestion: 'Suspendre ces messages et ceux à venir ?',
  holdEffect:
    'Aucune tentative ne commence pour ce qui attend ni pour ce qui sera accepté, même après un redémarrage, avant la libération. Elle vaut pour ce que laissent les filtres destination, domaine du destinataire et expéditeur.',
  holdSet: 'La suspension est en place.',
  liftQuestion: 'Libérer cette suspension ?',
  liftEffect: 'Elle ne suspend plus de nouveaux messages, et ce qu’elle suspend est de nouveau dû.',
  waitNow: (n, isMore) => `${isMore ? 'Au moins ' : ''}${messages(n)} dans la file d’attente maintenant.`,
}
