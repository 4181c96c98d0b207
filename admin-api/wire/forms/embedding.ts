/** Ways to embed a form in pages of other sites. */
import * as z from 'zod'
import { embedModes, type EmbedSnippet } from '#core/forms/embed-snippets.ts'
import { anyOrigin } from '#core/visitors/web-origin.ts'
import { encoder } from '../fields/codec.ts'

export const snippetInput = z.strictObject({
  mode: z.enum(embedModes).meta({
    description:
      '`link`: a link to the hosted page. `iframe`: a frame. `script`: in the page itself. `popup`: a button that opens the ' + 'form.',
  }),
  origin: z
    .string()
    .max(300)
    .refine((text) => anyOrigin(text) === text && text !== 'null', 'must be an origin such as https://www.example.ch')
    .optional()
    .meta({ description: 'Origin of the embedding page, such as https://www.example.ch.' }),
})

export const prefilledLinkInput = z.strictObject({
  values: z
    .record(z.string().max(64), z.string())
    .meta({ description: 'By key of the field: fields with `prefill`, and hidden fields with a parameter.' }),
})

export const prefilledLink = encoder(
  z.object({ url: z.string().meta({ description: 'Includes a signature if a value requires one.' }) }).meta({ id: 'PrefilledFormLink' }),
).from<{ readonly url: string }>()

const snippetShape = z
  .object({
    mode: z.enum(embedModes),
    url: z.string().meta({ description: 'The hosted page.' }),
    html: z.string().meta({ description: 'HTML to paste into the page.' }),
    content_security_policy: z
      .array(z.string())
      .meta({ description: 'Directives that the Content-Security-Policy of that page must allow.' }),
    notes: z.array(z.string()).meta({ description: 'Current problems that prevent the form from working there.' }),
  })
  .meta({ id: 'FormEmbedSnippet' })

export const embedSnippet = encoder(snippetShape).from<EmbedSnippet>()
