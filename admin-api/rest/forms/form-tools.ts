/** Tools of forms that agents call differently from REST: with the ids that agents have. Spec "Agent (MCP) tool surface", "Forms". */
import { starterDefinition } from '#core/forms/starters.ts'
import { action, type Action } from '../../actions/action.ts'
import { form } from '../../wire/forms/form.ts'
import { draftForAgents, madeForm, replyForAgents } from '../../wire/forms/form-tools.ts'
import { reply } from '../../wire/forms/reply.ts'
import { agentAcceptance } from '../../wire/sending/send.ts'
import type { RestCore } from '../rest-core.ts'

const about = { tags: ['forms'], feature: 'forms' } as const

/** Fields with text of the visitor, and text rendered by a template. */
const visitorFields = ['to', 'subject', 'text', 'html'] as const

const making: Action<RestCore> = action({
  ...about,
  id: 'designForm',
  summary: 'Create a form',
  scope: 'api:admin',
  errors: ['definition_invalid'],
  input: madeForm,
  output: form,
  tool: {
    name: 'form_create',
    toolset: 'forms',
    description:
      'Create a form in the bound project as a draft; without fields it is a contact form with name, email and message. ' +
      'definition_invalid names each invalid place; docs://guide/forms lists all types of fields. Visitors see nothing until ' +
      'form_publish(form_id).',
  },
  run({ core, principal }, { name, fields, layout, captcha, ...parts }) {
    const starter = starterDefinition('contact', name)
    const { theme, logic, thankYou } = parts
    const own = fields ? { schema: { version: 1, fields } } : { schema: starter['schema'], settings: starter['settings'] }
    const { schema, settings = {} } = own as { readonly schema: object; readonly settings?: object }
    const definition = {
      schema: { ...schema, ...(layout && { layout: { version: 1, ...layout } }) },
      settings: { ...settings, ...(captcha && { captcha: { provider: captcha.provider, site_key: captcha.siteKey } }) },
      ...(theme && { theme }),
      ...(logic && { logic: { version: 1, ...logic } }),
      ...(thankYou ? { thank_you: thankYou } : !fields && { thank_you: starter['thank_you'] }),
    }
    return core.forms.forms.create(principal, { name, definition })
  },
})

const writing: Action<RestCore> = action({
  ...about,
  id: 'writeFormReply',
  summary: 'Write a reply to a submission, as a draft',
  scope: 'api:send',
  errors: ['not_found', 'conflict'],
  input: draftForAgents,
  output: reply,
  tool: {
    name: 'form_reply_draft_create',
    toolset: 'forms',
    description:
      'Write the reply to one submission as a draft, to the address of its visitor: subject with text or html, or a template, ' +
      'which can use .fields and .form.name. Sends nothing. Show the draft to the user; once they approve it, ' +
      'form_reply_send(draft_id). For other mail use email_send_test.',
    untrusted: visitorFields,
  },
  run: async ({ core, principal }, { submissionId, ...asked }) =>
    core.forms.replies.create(principal, await core.forms.replies.formOfSubmission(principal, submissionId), submissionId, asked),
})

const sending: Action<RestCore> = action({
  ...about,
  id: 'sendFormReplyOfAgent',
  summary: 'Send a reply draft',
  scope: 'api:send',
  errors: ['not_found', 'conflict', 'storage_full'],
  input: replyForAgents,
  output: agentAcceptance,
  tool: {
    name: 'form_reply_send',
    toolset: 'forms',
    description:
      'Send one reply draft to the visitor, only after the user approved this exact draft; a repeated call returns the same ' +
      'trace. Status "awaiting_approval": give the user approval.url and do not send again. Bulk sending is not possible. Next: ' +
      'email_trace_lookup(trace_id).',
    resource: 'email://traces/{trace_id}',
    hints: { idempotent: true, openWorld: true },
  },
  async run({ core, principal, continues, signal }, { draftId }) {
    if (continues) return core.forms.replies.continueSend(principal, draftId, continues, signal)
    const { acceptance } = await core.forms.replies.send(principal, await core.forms.replies.formOf(principal, draftId), draftId)
    if (acceptance.status !== 'awaiting_approval') return acceptance
    return { ...acceptance, ...(await core.sendApprovals.outcomeOf(principal, acceptance.traceId)) }
  },
})

export const formTools: readonly Action<RestCore>[] = [making, writing, sending]
