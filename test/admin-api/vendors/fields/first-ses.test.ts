/** Clients of version 1 of the Amazon SES API get their own error format. Other requests to the address get the error of a wrong method. */
import test from '#test'
import { adminKey, startDaemon } from '../../../support/daemon/start-daemon.ts'

test('Amazon SES: clients of version 1 get an error in XML', async (t) => {
  const { rest } = await startDaemon(t)
  const body = Buffer.from(new URLSearchParams({ Action: 'SendEmail', Version: '2010-12-01', Source: 'shop@example.ch' }).toString())
  const type = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' }
  const signed = `AWS4-HMAC-SHA256 Credential=${adminKey}/20300115/eu-central-1/ses/aws4_request, SignedHeaders=host, Signature=${'0'.repeat(64)}`
  const { status, headers, bytes } = await rest.call('POST', '/', body, { ...type, authorization: signed })
  t.deepEqual([status, headers['content-type']], [400, 'text/xml'])
  t.is(
    bytes.toString(),
    '<ErrorResponse xmlns="http://ses.amazonaws.com/doc/2010-12-01/"><Error><Type>Sender</Type><Code>InvalidAction</Code>' +
      '<Message>Only version 2 of the Amazon SES API is supported. Use a client of SES v2, such as boto3.client("sesv2") or ' +
      'SESv2Client, or SMTP.</Message></Error></ErrorResponse>',
  )
  const other = await rest.call('POST', '/', body, type)
  t.like(other, { status: 405, body: { error: { code: 'method_not_allowed' } } })
  t.is(other.headers.allow, 'GET, HEAD')
  t.is((await rest.call('GET', '/')).status, 200)
})
