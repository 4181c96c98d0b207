/** The readable parts of an invalid send: project, From and recipients. Each part is parsed independently of the others. */
import type { Mailbox } from '#core/addresses.ts'
import type { RefusedSend } from '#core/submission/accept/refused-sends.ts'
import { mailbox } from '../fields/mailbox.ts'
import { id } from '../fields/text.ts'

/** Maximum number of entries parsed for each field. */
const maxEntries = 100

export function toRefusedSend(body: unknown): RefusedSend {
  const fields = typeof body === 'object' && body !== null ? (body as Readonly<Record<string, unknown>>) : {}
  const project = id.safeParse(fields['project_id'])
  return {
    projectId: project.success ? project.data : undefined,
    from: readable(fields['from'])[0],
    to: [...readable(fields['to']), ...readable(fields['cc'])],
    bcc: readable(fields['bcc']),
  }
}

function readable(value: unknown): Mailbox[] {
  const entries: readonly unknown[] = Array.isArray(value) ? value.slice(0, maxEntries) : value === undefined ? [] : [value]
  return entries.flatMap((entry) => {
    const read = mailbox.safeParse(entry)
    return read.success ? [read.data] : []
  })
}
