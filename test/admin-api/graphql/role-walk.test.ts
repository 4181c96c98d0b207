/** Every query and mutation, called with a browser session: a role has the same permissions over GraphQL and REST. */
import test from '#test'
import { roles } from '#core/access/principal/role.ts'
import { ask, installationOf } from '../rest/fixture/one-of-everything.ts'
import { sessionOf } from '../rest/fixture/sessions.ts'
import { walkOf } from './every-field.ts'
import { post } from './graphql-fixture.ts'

/** `done`, or the code of the refusal. */
type Outcome = string

const codeOf = (body: unknown): string => (body as { error?: { code: string } } | undefined)?.error?.code ?? 'without a code'

/** A caller without read access gets an error for the whole request. */
type Answered = Awaited<ReturnType<typeof post>>['body'] & { readonly error?: object }

/** Expected outcome of mutations that exist only in GraphQL, by permission to change project resources. */
const ownOf = (mayChange: boolean): Outcome => (mayChange ? 'done' : 'insufficient_scope')

for (const role of roles)
  test(`a session with the role ${role} has the same permissions over GraphQL as over REST`, async (t) => {
    const [overRest, overGraphql] = [await installationOf(t), await installationOf(t)]
    const [restCookie, cookie] = await Promise.all(
      [overRest, overGraphql].map(async (one) => sessionOf(one, await one.addMember(`${role}@example.ch`, role))),
    )
    const rest = overRest.client('')
    const fields = walkOf(overRest)
    t.true(fields.length > 40)
    for (const [i, { name, document, variables, request }] of walkOf(overGraphql).entries()) {
      const { action, request: restRequest } = fields[i] ?? { action: { id: '' }, request }
      const operation = overRest.operations.find(({ operationId }) => operationId === action.id)
      const headers = { authorization: '', 'sec-fetch-site': 'same-origin' }
      const answer = operation && (await ask(rest, operation, { ...restRequest, headers: { ...headers, cookie: restCookie ?? '' } }))
      const allowed = answer ? (answer.status < 400 ? 'done' : codeOf(answer.body)) : ownOf(role !== 'viewer' && role !== 'billing')
      const { body }: { readonly body: Answered } = await post(
        overGraphql,
        { query: document, variables: variables(request) },
        { ...headers, cookie: cookie ?? '' },
        null,
      )
      const refusal = body.errors?.[0]?.extensions.code ?? (body.error ? codeOf(body) : 'done')
      t.is(refusal, allowed, `${name}: ${JSON.stringify(body).slice(0, 300)}`)
    }
  })
