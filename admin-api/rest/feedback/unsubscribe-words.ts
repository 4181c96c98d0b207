/** What the page behind List-Unsubscribe says, in four languages. Its readers are not users of the service, and are addressed formally. */
import type { Language } from '../../pages/layout/language.ts'
import { html, type Html } from '../../pages/layout/html.ts'

export interface UnsubscribeWords {
  readonly question: string
  readonly act: string
  readonly done: string
  readonly doneTitle: string
  readonly willEnd: (recipient: string, list: Html, sender: string) => Html
  readonly hasEnded: (recipient: string, list: Html, sender: string) => Html
  /** After “mail of”; without a name, it is that of the sender. */
  readonly list: (name: string | undefined) => Html
  readonly others: string
  readonly close: string
}

export const unsubscribeWords: Readonly<Record<Language, UnsubscribeWords>> = {
  en: {
    question: 'Unsubscribe?',
    act: 'Unsubscribe',
    done: 'You are unsubscribed',
    doneTitle: 'Unsubscribed',
    willEnd: (recipient, list, sender) => html`<b>${recipient}</b> will no longer receive mail of ${list} from <b>${sender}</b>.`,
    hasEnded: (recipient, list, sender) => html`<b>${recipient}</b> no longer receives mail of ${list} from <b>${sender}</b>.`,
    list: (name) => (name === undefined ? html`the mailing list` : html`the list <b>${name}</b>`),
    others: 'Nothing else changes: you still receive mail of other lists, and mail such as receipts and password resets.',
    close: 'You can close this page.',
  },
  de: {
    question: 'Abmelden?',
    act: 'Abmelden',
    done: 'Sie sind abgemeldet',
    doneTitle: 'Abgemeldet',
    willEnd: (recipient, list, sender) => html`<b>${recipient}</b> erhält dann keine Mails ${list} von <b>${sender}</b> mehr.`,
    hasEnded: (recipient, list, sender) => html`<b>${recipient}</b> erhält keine Mails ${list} von <b>${sender}</b> mehr.`,
    list: (name) => (name === undefined ? html`der Mailingliste` : html`der Liste <b>${name}</b>`),
    others:
      'Sonst ändert sich nichts: Mails anderer Listen erhalten Sie weiterhin, ebenso Quittungen, Links für neue Passwörter und Ähnliches.',
    close: 'Sie können diese Seite schliessen.',
  },
  fr: {
    question: 'Se désabonner ?',
    act: 'Se désabonner',
    done: 'Vous êtes désabonné',
    doneTitle: 'Désabonnement',
    willEnd: (recipient, list, sender) => html`<b>${recipient}</b> ne recevra plus d’e-mails ${list} de la part de <b>${sender}</b>.`,
    hasEnded: (recipient, list, sender) => html`<b>${recipient}</b> ne reçoit plus d’e-mails ${list} de la part de <b>${sender}</b>.`,
    list: (name) => (name === undefined ? html`de la liste de diffusion` : html`de la liste <b>${name}</b>`),
    others:
      'Rien d’autre ne change : vous recevez toujours les e-mails d’autres listes, ainsi que les reçus, les liens de mot de passe, etc.',
    close: 'Vous pouvez fermer cette page.',
  },
  it: {
    question: 'Annullare l’iscrizione?',
    act: 'Annulla l’iscrizione',
    done: 'L’iscrizione è annullata',
    doneTitle: 'Iscrizione annullata',
    willEnd: (recipient, list, sender) => html`<b>${recipient}</b> non riceverà più e-mail ${list} da <b>${sender}</b>.`,
    hasEnded: (recipient, list, sender) => html`<b>${recipient}</b> non riceve più e-mail ${list} da <b>${sender}</b>.`,
    list: (name) => (name === undefined ? html`della mailing list` : html`della lista <b>${name}</b>`),
    others: 'Nient’altro cambia: continua a ricevere le e-mail di altre liste, le ricevute, i link per la password e simili.',
    close: 'Può chiudere questa pagina.',
  },
}
