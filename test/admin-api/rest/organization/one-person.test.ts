/** Fields that name one person refuse a `*`, which reads as a pattern and matches nothing. */
import test from '#test'
import { startFixture } from '../fixture/rest-fixture.ts'

test('fields for one address refuse patterns with *', async (t) => {
  const { rest } = await startFixture(t)
  const form = await rest.must('POST', '/v1/forms', {
    name: 'Contact',
    definition: { name: 'Contact', locale: 'en', schema: { version: 1, fields: [{ key: 'name', type: 'text', label: 'Name' }] } },
  })
  const notifications = `/v1/forms/${String(form['id'])}/notifications`
  const [pattern, person] = ['*@example.ch', 'ada@example.ch']
  const fields: readonly (readonly [method: 'POST' | 'PUT', path: string, field: string, bodyOf: (email: string) => object])[] = [
    ['POST', '/v1/invitations', 'email', (email) => ({ email, role: 'viewer' })],
    ['PUT', notifications, 'recipients', (email) => ({ recipients: [{ email }] })],
    ['PUT', notifications, 'from', (from) => ({ from })],
    ['POST', '/v1/smtp-credentials', 'failure_notice_to', (to) => ({ label: 'site', failure_notice_to: to })],
    ['POST', '/v1/api-keys', 'failure_notice_to', (to) => ({ name: to, send_only: true, failure_notice_to: to })],
    ['POST', '/v1/suppressions', 'email', (email) => ({ email })],
  ]
  for (const [method, path, field, bodyOf] of fields) {
    const refused = await rest.call(method, path, bodyOf(pattern))
    t.is(refused.status, 400, `${path}: ${JSON.stringify(refused.body)}`)
    t.regex(JSON.stringify(refused.body), new RegExp(`"path":"${field}`), path)
    const taken = await rest.call(method, path, bodyOf(person))
    t.not(taken.status, 400, `${path}: ${JSON.stringify(taken.body)}`)
  }
})
