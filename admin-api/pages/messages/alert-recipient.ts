/** The page of the link in the mail to the recipient of an alert channel, who confirms or ends the alerts without an account. */
import type { ChannelRecipient, Confirmations } from '#core/alerts/channels/confirmations.ts'
import type { Answer } from '../../operation/answer.ts'
import type { Operation } from '../../operation/operation.ts'
import { html, type Html } from '../layout/html.ts'
import { page } from '../layout/layout.ts'
import { seeOther, type Pages } from '../session/page-operation.ts'
import type { PageTexts } from '../texts/texts-for.ts'

export interface AlertPagesCore {
  readonly alertConfirmations: Confirmations
}

const path = '/alert-channels/{token}'

/** Opening the page changes nothing, since mail scanners open links; the buttons do. */
export const alertRecipientOperations = (pages: Pages, { alertConfirmations }: AlertPagesCore): readonly Operation[] => [
  pages.open(
    { path, operationId: 'showAlertRecipient', summary: 'Show an alert channel to its recipient' },
    async ({ params: { token = '' }, texts }) => recipientPage(await alertConfirmations.look(token), token, texts),
  ),
  pages.openForm(
    { path: `${path}/confirm`, operationId: 'confirmAlertRecipient', summary: 'Confirm the alerts of an organization' },
    async ({ params: { token = '' } }) => {
      await alertConfirmations.confirm(token)
      return seeOther(`/alert-channels/${token}`)
    },
  ),
  pages.openForm(
    { path: `${path}/end`, operationId: 'endAlertRecipient', summary: 'End the alerts of an organization' },
    async ({ params: { token = '' }, texts }) => {
      await alertConfirmations.stop(token)
      return endedPage(texts)
    },
  ),
]

function recipientPage({ organization, channel, address }: ChannelRecipient, token: string, texts: PageTexts): Answer {
  const { alertRecipient: said, message } = texts.mail
  const own = `/alert-channels/${token}`
  const title = said.title({ organization: organization.name })
  return page({
    title,
    lang: texts.lang,
    content: html`<div class="sheet">
      <h1>${title}</h1>
      <dl class="facts">
        <div>
          <dt>${message.from}</dt>
          <dd>${organization.name}</dd>
        </div>
        <div>
          <dt>${message.to}</dt>
          <dd>${address}</dd>
        </div>
      </dl>
      ${channel.isOn && channel.confirmedAt !== null ? running(own, texts) : waiting(own, texts)}
    </div>`,
  })
}

const running = (own: string, { mail: { alertRecipient: said } }: PageTexts): Html =>
  html`<p class="done" role="status">${said.isOn}</p>
    <form method="post" action="${own}/end"><button class="quiet">${said.stop}</button></form>`

const waiting = (own: string, { mail: { alertRecipient: said } }: PageTexts): Html =>
  html`<p>${said.waiting}</p>
    <form method="post" action="${own}/confirm"><button>${said.confirm}</button></form>
    <form method="post" action="${own}/end"><button class="quiet">${said.decline}</button></form>`

const endedPage = ({ lang, mail: { alertRecipient: said } }: PageTexts): Answer =>
  page({
    title: said.ended,
    lang,
    content: html`<div class="sheet">
      <h1>${said.ended}</h1>
      <p role="status">${said.endedText}</p>
    </div>`,
  })
