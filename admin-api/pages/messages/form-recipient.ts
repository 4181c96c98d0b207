/** The page behind the link in mails about submissions of a form: its recipient confirms or ends them. Without scripts and accounts. */
import type { Recipients, RecipientView } from '#core/forms/notifications/recipients.ts'
import type { Answer } from '../../operation/answer.ts'
import type { Operation } from '../../operation/operation.ts'
import { html, type Html } from '../layout/html.ts'
import { page } from '../layout/layout.ts'
import { seeOther, type Pages } from '../session/page-operation.ts'

export interface RecipientPagesCore {
  readonly forms: { readonly recipients: Recipients }
}

const path = '/form-notifications/{token}'

/** Looking changes nothing, as scanners of mail follow links; the buttons do. */
export const recipientOperations = (pages: Pages, { recipients }: RecipientPagesCore['forms']): readonly Operation[] => [
  pages.open(
    { path, operationId: 'showFormRecipient', summary: 'Show the notifications of a form to their recipient' },
    async ({ params: { token = '' } }) => recipientPage(await recipients.look(token), token),
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
    async ({ params: { token = '' } }) => {
      await recipients.stop(token)
      return endedPage()
    },
  ),
]

function recipientPage({ organization, form, recipient, isOn }: RecipientView, token: string): Answer {
  const own = `/form-notifications/${token}`
  return page({
    title: `Submissions of ${form.name}`,
    content: html`<div class="sheet">
      <h1>Submissions of ${form.name}</h1>
      <dl class="facts">
        <div>
          <dt>From</dt>
          <dd>${organization.name}</dd>
        </div>
        <div>
          <dt>To</dt>
          <dd>${recipient.email}</dd>
        </div>
      </dl>
      ${isOn ? running(own) : waiting(own)}
    </div>`,
  })
}

const running = (own: string): Html =>
  html`<p class="done" role="status">This address gets mails about submissions of the form.</p>
    <form method="post" action="${own}/end"><button class="quiet">Stop sending them to me</button></form>`

const waiting = (own: string): Html =>
  html`<p>Nothing is sent to this address unless you confirm. You can end it at any time by a link in every mail.</p>
    <form method="post" action="${own}/confirm"><button>Send me the submissions</button></form>
    <form method="post" action="${own}/end"><button class="quiet">No, take me off the list</button></form>`

const endedPage = (): Answer =>
  page({
    title: 'No more mails',
    content: html`<div class="sheet">
      <h1>No more mails</h1>
      <p role="status">This address gets no more mails about submissions of the form.</p>
    </div>`,
  })
