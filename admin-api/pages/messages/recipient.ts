/**
 * Pages of the links in mails to recipients without an account, about submissions of a form and alerts of an organization. The recipient
 * confirms or ends the mails, without scripts.
 */
import type { Confirmations } from '#core/alerts/channels/confirmations.ts'
import type { Recipients } from '#core/forms/notifications/recipients.ts'
import type { Answer } from '../../operation/answer.ts'
import type { Operation } from '../../operation/operation.ts'
import { html } from '../layout/html.ts'
import { page } from '../layout/layout.ts'
import { seeOther, type Pages } from '../session/page-operation.ts'
import type { PageTexts } from '../texts/texts-for.ts'

export interface RecipientPagesCore {
  readonly forms: { readonly recipients: Recipients }
  readonly alertConfirmations: Confirmations
}

interface Shown {
  readonly title: string
  /** Name of the organization. */
  readonly from: string
  readonly address: string
  /** Whether the recipient gets the mails already. */
  readonly isOn: boolean
}

/** A kind of mail that its recipient confirms. */
interface Confirmed {
  /** Path of the pages, before the token. */
  readonly path: string
  /** Ends the ids of the operations. */
  readonly name: string
  /** Summaries of the operations. */
  readonly shows: string
  readonly confirms: string
  readonly ends: string
  readonly said: (texts: PageTexts) => Omit<PageTexts['mail']['recipient'], 'title'>
  readonly look: (token: string, texts: PageTexts) => Promise<Shown>
  readonly confirm: (token: string) => Promise<unknown>
  readonly stop: (token: string) => Promise<unknown>
}

export const recipientOperations = (pages: Pages, core: RecipientPagesCore): readonly Operation[] =>
  [ofForms(core), ofAlerts(core)].flatMap((kind) => operationsOf(pages, kind))

const ofForms = ({ forms: { recipients } }: RecipientPagesCore): Confirmed => ({
  ...{ path: '/form-notifications', name: 'FormRecipient', shows: 'Show the notifications of a form to their recipient' },
  ...{ confirms: 'Confirm the notifications of a form', ends: 'End the notifications of a form' },
  said: ({ mail }) => mail.recipient,
  look: async (token, { mail }) => {
    const { organization, form, recipient, isOn } = await recipients.look(token)
    return { title: mail.recipient.title({ form: form.name }), from: organization.name, address: recipient.email, isOn }
  },
  confirm: (token) => recipients.confirm(token),
  stop: (token) => recipients.stop(token),
})

const ofAlerts = ({ alertConfirmations }: RecipientPagesCore): Confirmed => ({
  ...{ path: '/alert-channels', name: 'AlertRecipient', shows: 'Show an alert channel to its recipient' },
  ...{ confirms: 'Confirm the alerts of an organization', ends: 'End the alerts of an organization' },
  said: ({ mail }) => mail.alertRecipient,
  look: async (token, { mail }) => {
    const { organization, channel, address } = await alertConfirmations.look(token)
    const isOn = channel.isOn && channel.confirmedAt !== null
    return { title: mail.alertRecipient.title({ organization: organization.name }), from: organization.name, address, isOn }
  },
  confirm: (token) => alertConfirmations.confirm(token),
  stop: (token) => alertConfirmations.stop(token),
})

/** Opening the page changes nothing, since mail scanners open links; the buttons do. */
const operationsOf = (pages: Pages, kind: Confirmed): readonly Operation[] => [
  pages.open(
    { path: `${kind.path}/{token}`, operationId: `show${kind.name}`, summary: kind.shows },
    async ({ params: { token = '' }, texts }) => shownPage(kind, await kind.look(token, texts), token, texts),
  ),
  pages.openForm(
    { path: `${kind.path}/{token}/confirm`, operationId: `confirm${kind.name}`, summary: kind.confirms },
    async ({ params: { token = '' } }) => {
      await kind.confirm(token)
      return seeOther(`${kind.path}/${token}`)
    },
  ),
  pages.openForm(
    { path: `${kind.path}/{token}/end`, operationId: `end${kind.name}`, summary: kind.ends },
    async ({ params: { token = '' }, texts }) => {
      await kind.stop(token)
      return endedPage(kind, texts)
    },
  ),
]

function shownPage(kind: Confirmed, { title, from, address, isOn }: Shown, token: string, texts: PageTexts): Answer {
  const { message } = texts.mail
  const said = kind.said(texts)
  const own = `${kind.path}/${token}`
  const content = isOn
    ? html`<p class="done" role="status">${said.isOn}</p>
        <form method="post" action="${own}/end"><button class="quiet">${said.stop}</button></form>`
    : html`<p>${said.waiting}</p>
        <form method="post" action="${own}/confirm"><button>${said.confirm}</button></form>
        <form method="post" action="${own}/end"><button class="quiet">${said.decline}</button></form>`
  return page({
    title,
    lang: texts.lang,
    content: html`<div class="sheet">
      <h1>${title}</h1>
      <dl class="facts">
        <div>
          <dt>${message.from}</dt>
          <dd>${from}</dd>
        </div>
        <div>
          <dt>${message.to}</dt>
          <dd>${address}</dd>
        </div>
      </dl>
      ${content}
    </div>`,
  })
}

function endedPage(kind: Confirmed, texts: PageTexts): Answer {
  const said = kind.said(texts)
  return page({
    title: said.ended,
    lang: texts.lang,
    content: html`<div class="sheet">
      <h1>${said.ended}</h1>
      <p role="status">${said.endedText}</p>
    </div>`,
  })
}
