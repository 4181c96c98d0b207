/** Inputs of the form tools of agents. The form is the same document as in REST, split into parts. */
import * as z from 'zod'
import { definitionLimits } from '#core/forms/definition/definition.ts'
import { id, line, nameLine } from '../fields/text.ts'
import { newReply } from './reply.ts'

const json = z.record(z.string(), z.unknown())
const part = (description: string) => json.optional().meta({ description })

export const madeForm = z.strictObject({
  name: nameLine(definitionLimits.name),
  fields: z.array(json).min(1).max(definitionLimits.fields).optional().meta({
    description: 'In reading order, each with `key`, `type` and `label`. Defaults to the fields of a contact form.',
  }),
  layout: part('`rows`, each with `fields` and `spans` of 12 columns. Defaults to one field per row.'),
  theme: part('`mode`, `colors`, `dark_colors`, `radius`, `font` and `logo`.'),
  logic: part('`rules`, each with `id`, `when` and `then`.'),
  thank_you: part('`title`, `body`, `redirect_url` and `variants`.'),
  captcha: z
    .strictObject({ provider: z.enum(['turnstile', 'hcaptcha']), site_key: line(200) })
    .optional()
    .meta({ description: 'Set its secret in the dashboard; without the secret, the form accepts no submissions.' }),
})

/** Without a sender: the draft uses the sender of the destination. */
export const draftForAgents = newReply.omit({ from: true })
export const replyForAgents = z.strictObject({ draft_id: id })
