/** MIME structure of a composed message: text and HTML as alternatives, inline files related to the HTML, other files mixed. */
import { hash } from 'node:crypto'
import type { Steps } from '../../event-loop.ts'
import type { Attachment } from './attachments.ts'
import { filePart } from './file-part.ts'
import { headerWithParameters, type Part } from './part.ts'
import { textPart } from './text-body.ts'

/** Boundaries derive from the trace id, so they are unique and the same message composes to the same bytes. */
export type Boundary = (level: string) => string
export const boundaryFrom =
  (traceId: string): Boundary =>
  (level) =>
    `=_${level}_${hash('sha256', `boundary ${traceId} ${level}`).slice(0, 32)}`

/** Composes text and HTML. Without both, the text is empty. */
export function* bodyPart(text: string | undefined, html: string | undefined): Steps<BodyParts> {
  return {
    text: text !== undefined || html === undefined ? yield* textPart('text/plain', text ?? '') : undefined,
    html: html === undefined ? undefined : yield* textPart('text/html', html),
  }
}

interface BodyParts {
  readonly text: Part | undefined
  readonly html: Part | undefined
}

/** RFC 2046 §5.1: mixed( alternative( text, related( html, inline… ) ), file… ). Omits levels with one member. */
export function* joinParts(body: BodyParts, attachments: readonly Attachment[], boundary: Boundary): Steps<Part> {
  const inline = attachments.filter((a) => a.contentId !== undefined && a.disposition !== 'attachment' && body.html)
  const files = attachments.filter((a) => !inline.includes(a))
  const html = body.html && multipart('related', [body.html, ...(yield* fileParts(inline))], boundary)
  const alternatives = [body.text, html].filter((part) => part !== undefined)
  return multipart('mixed', [multipart('alternative', alternatives, boundary), ...(yield* fileParts(files))], boundary)
}

function multipart(kind: 'mixed' | 'alternative' | 'related', parts: readonly Part[], boundary: Boundary): Part {
  const [only] = parts
  if (only && parts.length === 1) return only
  const mark = boundary(kind)
  const opened = parts.flatMap(({ headers, body }, i) => [`${i === 0 ? '' : '\r\n'}--${mark}\r\n${headers.join('\r\n')}\r\n\r\n`, ...body])
  const parameters = [...(kind === 'related' ? ['type="text/html"'] : []), `boundary="${mark}"`] // RFC 2387 §3.1
  return { headers: [headerWithParameters(`Content-Type: multipart/${kind}`, parameters)], body: [...opened, `\r\n--${mark}--\r\n`] }
}

function* fileParts(files: readonly Attachment[]): Steps<Part[]> {
  const parts: Part[] = []
  for (const file of files) parts.push(yield* filePart(file))
  return parts
}
