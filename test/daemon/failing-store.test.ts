/** A store that fails during requests: callers get an error that allows a retry, and an undecided write gets no response. */
import test, { type ExecutionContext } from '#test'
import { StoreFailure } from '#store/kv.ts'
import { makeDestination, makeLogin } from '../support/daemon/provision.ts'
import { adminKey, startDaemon } from '../support/daemon/start-daemon.ts'
import { LinkLost, SmtpClient } from '../support/smtp/smtp-client.ts'

const mail = { from: 'a@site.test', to: 'b@inbox.test', subject: 's', text: 't' }

/** Starts a daemon with an open SMTP session and makes its next writes fail. */
async function failing(t: ExecutionContext, isUndecided: boolean) {
  const daemon = await startDaemon(t, { env: { POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.1/32' } })
  const login = await makeLogin(daemon.rest, await makeDestination(daemon.rest, { name: 'Box', port: 9, mode: 'sandbox' }))
  const client = await SmtpClient.signIn({ port: Number(daemon.addresses.submission.split(':')[1]) }, login)
  t.teardown(() => client.destroy())
  await daemon.settled()
  daemon.kv.beforeWrite = () => {
    throw new StoreFailure('The database at host/db has been unreachable for 30 seconds.', { isUndecided })
  }
  t.teardown(() => {
    daemon.kv.beforeWrite = undefined
    daemon.errors.length = 0
  })
  const content = Buffer.from('Subject: s\r\n\r\nt\r\n')
  return { ...daemon, bySmtp: () => client.send({ from: mail.from, to: [mail.to], content }) }
}

test('failed write: 503 with Retry-After by REST, 451 by SMTP', async (t) => {
  const { rest, bySmtp, addresses } = await failing(t, false)
  const answer = await rest.call('POST', '/v1/messages', mail)
  t.is(answer.status, 503)
  t.is(answer.headers['retry-after'], '5')
  t.like(answer.body, {
    error: {
      code: 'overloaded',
      next_action: 'retry_later',
      message: 'The store cannot be used at the moment, and nothing was stored; repeat the request in a few seconds.',
    },
  })
  const batch = await rest.call('POST', '/v1/messages/batch', { messages: [mail] })
  t.regex(batch.bytes.toString('utf8'), /"code":"overloaded"/)
  const graphql = await fetch(`http://${addresses.http}/v1/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query: 'mutation { setNoRoutePolicy(input: {noRoutePolicy: reject}) { __typename } }' }),
  })
  t.regex(await graphql.text(), /"code":"overloaded"/)
  const { reply } = await bySmtp()
  t.is(reply.code, 451)
  t.regex(JSON.stringify(reply), /4\.3\.2 The store cannot be used at the moment/)
})

test('undecided write: the request ends without a response', async (t) => {
  const { rest, bySmtp } = await failing(t, true)
  await t.throwsAsync(rest.call('POST', '/v1/messages', mail))
  await t.throwsAsync(rest.call('POST', '/v1/messages/batch', { messages: [mail] }))
  await t.throwsAsync(bySmtp(), { instanceOf: LinkLost })
})
