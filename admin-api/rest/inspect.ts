/** Deliverability tests: an address to send to, and the report on the mail that came; also as a page for people. Spec "Inspect". */
import * as z from 'zod'
import { answer, media } from '../answer.ts'
import { operation, type Operation } from '../operation.ts'
import { reportPage } from '../pages/inspect-report.ts'
import { strangerRefusalPage } from '../pages/refusal-page.ts'
import {
  inspectSummaryShape,
  inspectTestShape,
  newInspectTestBody,
  sharedReportPath,
  toWireInspectSummary,
  toWireInspectTest,
} from '../wire/inspect.ts'
import { pageOf, pagingFields } from '../wire/paging.ts'
import { idParams } from '../wire/text.ts'
import { projectFilter, type RestCore } from './core.ts'

const tags = ['inspect']

export const inspectOperations = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'POST',
    path: '/v1/inspect/tests',
    operationId: 'createInspectTest',
    summary: 'Make an address that scores the first mail it gets',
    description: 'The address is good for 24 hours and one mail. Send to it just as you send to others, then read the report.',
    tags,
    right: 'api:send',
    status: 201,
    errors: ['not_found', 'feature_disabled'],
    body: newInspectTestBody,
    response: inspectSummaryShape,
    examples: { body: {} },
    async handle({ scope, body }) {
      const test = await core.inspectTests.create(scope, body.project_id)
      return answer(toWireInspectSummary(test, core.clock.now(), core.baseUrl), { status: 201 })
    },
  }),
  operation({
    method: 'GET',
    path: '/v1/inspect/tests',
    operationId: 'listInspectTests',
    summary: 'List deliverability tests, the newest first',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    query: z.strictObject(pagingFields),
    response: pageOf(inspectSummaryShape),
    async handle({ scope, query: { limit, cursor, project } }) {
      const { rows, nextCursor } = await core.inspectTests.list(scope, await projectFilter(core, scope, project), limit, cursor)
      const now = core.clock.now()
      return { data: rows.map((test) => toWireInspectSummary(test, now, core.baseUrl)), next_cursor: nextCursor ?? null }
    },
  }),
  operation({
    method: 'GET',
    path: '/v1/inspect/tests/{id}',
    operationId: 'readInspectTest',
    summary: 'Read a deliverability test: waiting, then its report of 17 checks',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    params: idParams,
    response: inspectTestShape,
    handle: async ({ scope, params }) => toWireInspectTest(await core.inspectTests.get(scope, params.id), core.clock.now(), core.baseUrl),
  }),
  operation({
    method: 'GET',
    path: sharedReportPath({ shareToken: '{token}' }),
    operationId: 'showInspectReport',
    summary: 'Show the report of a deliverability test to people',
    tags,
    right: 'none',
    errorRenderer: strangerRefusalPage,
    errors: ['not_found'],
    params: z.strictObject({ token: z.string().min(1).max(64).toLowerCase() }),
    response: media('text/html'),
    handle: async ({ params: { token } }) => reportPage(await core.inspectTests.shared(token), core.clock.now()),
  }),
]
