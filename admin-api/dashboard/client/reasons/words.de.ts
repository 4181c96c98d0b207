/** German: why a message went where it went. */
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const de: Wider<typeof en> = {
  someDestination: 'die es nicht mehr gibt',
  request: (destination) => `Die Anfrage nennt die Destination ${destination}.`,
  requestEnvironment: (environment, destination) => `Die Anfrage nennt die Umgebung ${environment}; darin wird ${destination} gewählt.`,
  credential: (destination) => `Das SMTP-Login nennt die Destination ${destination}.`,
  credentialEnvironment: (environment, destination) =>
    `Das SMTP-Login nennt die Umgebung ${environment}; darin wird ${destination} gewählt.`,
  rule: (rule, destination) => `Die Regel ${rule} führt zur Destination ${destination}.`,
  ruleEnvironment: (rule, environment, destination) =>
    `Die Regel ${rule} führt zur Umgebung ${environment}; darin wird ${destination} gewählt.`,
  project: (environment, destination) =>
    `Keine Regel passt. Das Projekt hat die Umgebung ${environment}; darin wird ${destination} gewählt.`,
  orgDefault: (destination) => `Keine Regel passt, also geht sie an den Standardabsender der Organisation, ${destination}.`,
  none: 'Keine Regel passt, und es gibt keinen Standardabsender.',
  ruleNot: (rule) => `Die Regel ${rule} passt nicht.`,
  ruleGone: (rule) => `Die Regel ${rule} passt, aber ihr Ziel gibt es nicht mehr.`,
  claimed: 'Das Projekt ist übernommen.',
  noDefault: 'Es gibt keinen Standardabsender.',
  noneSuppressed: 'Kein Empfänger ist gesperrt.',
  takesMail: (destination) => `Die Destination ${destination} nimmt jetzt Mail an.`,
  notRouted: 'Die Nachricht wurde abgelehnt, bevor sie zugewiesen wurde.',
  anyMail: 'für jeden Absender',
  priority: (priority) => `Priorität ${String(priority)}`,
  anonymous: 'Das Projekt ist noch nicht übernommen, deshalb wird alles festgehalten.',
  sandbox: (destination) => `Die Destination ${destination} ist im Sandbox-Modus; schalte sie live, damit sie weiterleitet.`,
  agent: 'Das Token dieses Agenten sendet nur in die Sandbox.',
  test: 'Es ist ein Test einer Vorlage; er wird immer festgehalten.',
  proof: (destination) => `Es ist ein Zustelltest von ${destination}; er wird auch aus der Sandbox weitergeleitet.`,
  live: (destination) => `Die Destination ${destination} ist live.`,
  noRoute: 'Keine Destination passt, und das Projekt hält fest, was keinen Weg hat.',
}
