/**
 * The page of the link in mails about submissions of a form. The recipient confirms or ends the notifications, without scripts or an
 * account.
 */
import type { Recipients, RecipientView } from '#core/forms/notifications/recipients.ts'
import type { Answer } from '../../operation/answer.ts'
import type { Operation } from '../../operation/operation.ts'
import { html, type Html } from '../layout/html.ts'
import { page } from '../layout/layout.ts'
import { seeOther, type Pages } from '../session/page-operation.ts'
import type { PageTexts } from '../texts/texts-for.ts'

export interface RecipientPagesCore {
  readonly forms: { readonly recipients: Recipients }
}

const path = '/form-notifications/{token}'

/** Opening the page changes nothing, since mail scanners open links; the buttons do. */
export const recipientOperations = (pages: Pages, { recipients }: RecipientPagesCore['forms']): readonly Operation[] => [
  pages.open(
    { path, operationId: 'showFormRecipient', summary: 'Show the notifications of a form to their recipient' },
    async ({ params: { token = '' }, texts }) => recipientPage(await recipients.look(token), token, texts),
  ),
  pages.openForm(
    { path: `${path}/confirm`, operationId: 'confirmFormRecipient', summary: 'Confirm the notifications of a form' },
    async ({ params: { token = '' } }) => {
      await recipients.confirm(token)
      return seeOther(`/form-notifications/${token}`)
    },
  ),
  pages.openForm(
    { path: `${path}/end`, operationId: 'endFormRecipient', summary: 'End the notifications of a form' },
    async ({ params: { token = '' }, texts }) => {
      await recipients.stop(token)
      return endedPage(texts)
    },
  ),
]

function recipientPage({ organization, form, recipient, isOn }: RecipientView, token: string, texts: PageTexts): Answer {
  const { recipient: said, message } = texts.mail
  const own = `/form-notifications/${token}`
  return page({
    title: said.title({ form: form.name }),
    lang: texts.lang,
    content: html`<div class="sheet">
      <h1>${said.title({ form: form.name })}</h1>
      <dl class="facts">
        <div>
          <dt>${message.from}</dt>
          <dd>${organization.name}</dd>
        </div>
        <div>
          <dt>${message.to}</dt>
          <dd>${recipient.email}</dd>
        </div>
      </dl>
      ${isOn ? running(own, texts) : waiting(own, texts)}
    </div>`,
  })
}

const running = (own: string, { mail: { recipient: said } }: PageTexts): Html =>
  html`<p class="done" role="status">${said.isOn}</p>
    <form method="post" action="${own}/end"><button class="quiet">${said.stop}</button></form>`

const waiting = (own: string, { mail: { recipient: said } }: PageTexts): Html =>
  html`<p>${said.waiting}</p>
    <form method="post" action="${own}/confirm"><button>${said.confirm}</button></form>
    <form method="post" action="${own}/end"><button class="quiet">${said.decline}</button></form>`

const endedPage = ({ lang, mail: { recipient: said } }: PageTexts): Answer =>
  page({
    title: said.ended,
    lang,
    content: html`<div class="sheet">
      <h1>${said.ended}</h1>
      <p role="status">${said.endedText}</p>
    </div>`,
  })
