/** Diagnoses: why a message bounced, and why one did not arrive. */
import * as z from 'zod'
import { searchMax } from '#core/diagnose/search/find-message.ts'
import { action, type Action } from '../actions/action.ts'
import { bounceDiagnosis, missingDiagnosis, type NothingFound } from '../wire/diagnose.ts'
import { filledLine } from '../wire/text.ts'
import type { RestCore } from './core.ts'

const tags = ['diagnose']

const nothingFound: NothingFound = {
  plainReason: `No message that this key can see has this id: none of the latest ${searchMax} messages, nor any that the id itself leads to.`,
  nextAction: 'Take the trace id that sending answered, or name the recipient too: then all messages to it are searched.',
}

export const diagnoseActions = ({ diagnoses }: RestCore): readonly Action[] => [
  action({
    id: 'diagnoseBounce',
    summary: 'Tell why a message bounced, and what to do',
    description:
      'Says whose fault it is, which DNS record to change with its present value, and whether others got the same reply. A message that has not ' +
      'bounced is told as such, with its last refusal if it is tried again. Nothing found is a normal answer.',
    tags,
    scope: 'api:read',
    input: z.strictObject({
      message_id: filledLine(
        998,
        'Trace id, Message-ID with or without angle brackets, X-Service-Ref, return path, or the queue id of the next host.',
      ),
      recipient: filledLine(
        320,
        'Which recipient, where there are several. An id that is not ours is then searched in all messages to it.',
      ).optional(),
    }),
    output: bounceDiagnosis,
    http: { method: 'GET', path: '/v1/diagnose/bounce' },
    run: async ({ principal }, request) => (await diagnoses.bounce(principal, request)) ?? nothingFound,
  }),
  action({
    id: 'diagnoseMissing',
    summary: 'Tell why mail to a recipient did not arrive',
    description:
      'Hypotheses with their evidence and the next action, the most certain one first, and what could not be checked. It reads what is stored, ' +
      'and asks DNS for the domain of the recipient.',
    tags,
    scope: 'api:read',
    input: z.strictObject({
      recipient: filledLine(320, 'One address, in any case.'),
      time_window: filledLine(
        80,
        'Back from now such as 90m, 24h (the default) or 7d, or two times: 2026-11-01T00:00:00Z/2026-11-02T00:00:00Z.',
      ).optional(),
    }),
    output: missingDiagnosis,
    http: { method: 'GET', path: '/v1/diagnose/missing' },
    run: ({ principal }, request) => diagnoses.missing(principal, request),
  }),
]
