/** Italian: why a message went where it went. */
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const it: Wider<typeof en> = {
  someDestination: 'che non esiste più',
  request: (destination) => `La richiesta indica la destinazione ${destination}.`,
  requestEnvironment: (environment, destination) => `La richiesta indica l’ambiente ${environment}, in cui è scelta ${destination}.`,
  credential: (destination) => `L’accesso SMTP indica la destinazione ${destination}.`,
  credentialEnvironment: (environment, destination) => `L’accesso SMTP indica l’ambiente ${environment}, in cui è scelta ${destination}.`,
  rule: (rule, destination) => `La regola ${rule} porta alla destinazione ${destination}.`,
  ruleEnvironment: (rule, environment, destination) =>
    `La regola ${rule} porta all’ambiente ${environment}, in cui è scelta ${destination}.`,
  project: (environment, destination) =>
    `Nessuna regola corrisponde. Il progetto ha l’ambiente ${environment}, in cui è scelta ${destination}.`,
  orgDefault: (destination) => `Nessuna regola corrisponde: il messaggio va al mittente predefinito dell’organizzazione, ${destination}.`,
  none: 'Nessuna regola corrisponde e non c’è un mittente predefinito.',
  ruleNot: (rule) => `La regola ${rule} non corrisponde.`,
  ruleGone: (rule) => `La regola ${rule} corrisponde, ma la sua destinazione non esiste più.`,
  claimed: 'Il progetto è collegato.',
  noDefault: 'Non c’è un mittente predefinito.',
  noneSuppressed: 'Nessun destinatario è bloccato.',
  takesMail: (destination) => `La destinazione ${destination} accetta posta adesso.`,
  notRouted: 'Il messaggio è stato rifiutato prima di essere instradato.',
  anyMail: 'per ogni mittente',
  priority: (priority) => `priorità ${String(priority)}`,
  anonymous: 'Il progetto non è ancora collegato, quindi tutti i suoi invii sono catturati.',
  sandbox: (destination) => `La destinazione ${destination} è in modalità sandbox; promuovila per inoltrare.`,
  agent: 'Il token di questo agente invia solo nella sandbox.',
  test: 'È una prova di un modello, sempre catturata.',
  proof: (destination) => `È un test di recapito di ${destination}, inoltrato anche da una sandbox.`,
  live: (destination) => `La destinazione ${destination} è attiva.`,
  noRoute: 'Nessuna destinazione corrisponde e il progetto cattura ciò che non ha percorso.',
}
