/** Diagnoses: why a message bounced, and why one did not arrive. */
import * as z from 'zod'
import { searchMax } from '#core/diagnose/find-message.ts'
import { operation, type Operation } from '../operation.ts'
import {
  bounceDiagnosisShape,
  bounceNotFound,
  missingDiagnosisShape,
  toWireBounceDiagnosis,
  toWireMissingDiagnosis,
} from '../wire/diagnose.ts'
import { filledLine } from '../wire/text.ts'
import type { RestCore } from './core.ts'

const tags = ['diagnose']

const nothingFound = bounceNotFound(
  `No message that this key can see has this id: none of the latest ${searchMax} messages, nor any that the id itself leads to.`,
  'Take the trace id that sending answered, or name the recipient too: then all messages to it are searched.',
)

export const diagnoseOperations = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'GET',
    path: '/v1/diagnose/bounce',
    operationId: 'diagnoseBounce',
    summary: 'Tell why a message bounced, and what to do',
    description:
      'Says whose fault it is, which DNS record to change with its present value, and whether others got the same reply. A message that has not ' +
      'bounced is told as such, with its last refusal if it is tried again. Nothing found is a normal answer.',
    tags,
    right: 'api:read',
    query: z.strictObject({
      message_id: filledLine(
        998,
        'Trace id, Message-ID with or without angle brackets, X-Service-Ref, return path, or the queue id of the next host.',
      ),
      recipient: filledLine(
        320,
        'Which recipient, where there are several. An id that is not ours is then searched in all messages to it.',
      ).optional(),
    }),
    response: bounceDiagnosisShape,
    async handle({ scope, query: { message_id, recipient } }) {
      const seen = await core.diagnoses.bounce(scope, { messageId: message_id, recipient })
      return seen ? toWireBounceDiagnosis(seen) : nothingFound
    },
  }),
  operation({
    method: 'GET',
    path: '/v1/diagnose/missing',
    operationId: 'diagnoseMissing',
    summary: 'Tell why mail to a recipient did not arrive',
    description:
      'Hypotheses with their evidence and the next action, the most certain one first, and what could not be checked. It reads what is stored, ' +
      'and asks DNS for the domain of the recipient.',
    tags,
    right: 'api:read',
    query: z.strictObject({
      recipient: filledLine(320, 'One address, in any case.'),
      time_window: filledLine(
        80,
        'Back from now such as 90m, 24h (the default) or 7d, or two times: 2026-11-01T00:00:00Z/2026-11-02T00:00:00Z.',
      ).optional(),
    }),
    response: missingDiagnosisShape,
    async handle({ scope, query: { recipient, time_window } }) {
      return toWireMissingDiagnosis(await core.diagnoses.missing(scope, { recipient, timeWindow: time_window }))
    },
  }),
]
