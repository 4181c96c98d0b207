/** How a form comes into pages of other sites. */
import * as z from 'zod'
import { embedModes, type EmbedSnippet } from '#core/forms/embed-snippets.ts'
import { anyOrigin } from '#core/visitors/web-origin.ts'
import { encoder } from '../fields/codec.ts'

export const snippetInput = z.strictObject({
  mode: z.enum(embedModes).meta({
    description: '`link` to the hosted page, `iframe`, `script` for a form in the page itself, or `popup` for a button that opens it.',
  }),
  origin: z
    .string()
    .max(300)
    .refine((text) => anyOrigin(text) === text && text !== 'null', 'must be an origin such as https://www.example.ch')
    .optional()
    .meta({ description: 'Of the page that it is for, such as https://www.example.ch.' }),
})

export const prefilledLinkInput = z.strictObject({
  values: z
    .record(z.string().max(64), z.string())
    .meta({ description: 'By key of the field: those with `prefill`, and hidden ones that take a parameter.' }),
})

export const prefilledLink = encoder(
  z
    .object({ url: z.string().meta({ description: 'With a signature, where one of the values needs it.' }) })
    .meta({ id: 'PrefilledFormLink' }),
).from<{ readonly url: string }>()

const snippetShape = z
  .object({
    mode: z.enum(embedModes),
    url: z.string().meta({ description: 'The hosted page.' }),
    html: z.string().meta({ description: 'To be pasted into the page.' }),
    content_security_policy: z.array(z.string()).meta({ description: 'What the policy of that page must allow, directive by directive.' }),
    notes: z.array(z.string()).meta({ description: 'What keeps it from working as things are.' }),
  })
  .meta({ id: 'FormEmbedSnippet' })

export const embedSnippet = encoder(snippetShape).from<EmbedSnippet>()
