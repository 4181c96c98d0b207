/** Version 1 of the Amazon SES API, whose clients send all requests to `/`. An XML error names the supported API. */
import type { IncomingHttpHeaders } from 'node:http'
import { Refusal } from '#core/refusals.ts'
import { media, raw } from '../operation/answer.ts'
import { operation, type Operation } from '../operation/operation.ts'
import { isSignedForAws } from './sigv4.ts'

const otherApi = (): Refusal =>
  new Refusal(
    'not_found',
    'Only version 2 of the Amazon SES API is supported. Use a client of SES v2, such as boto3.client("sesv2") or SESv2Client, or SMTP.',
    { nextAction: 'use_ses_v2' },
  )

const wrongMethod = (): Refusal =>
  new Refusal('method_not_allowed', 'This address accepts GET, HEAD.', { details: { allow: ['GET', 'HEAD'] } })

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

/** Writes the error in XML. The clients read code and message from it. */
const errorOf = ({ message }: Refusal): string =>
  '<ErrorResponse xmlns="http://ses.amazonaws.com/doc/2010-12-01/"><Error><Type>Sender</Type><Code>InvalidAction</Code>' +
  `<Message>${escaped(message)}</Message></Error></ErrorResponse>`

/** Requests without a signature get the usual response for a wrong method. */
export const firstSesOperation: Operation = operation({
  ...{ method: 'POST', path: '/', operationId: 'callFirstSes', tags: ['vendors'], scope: 'none' },
  summary: 'Refuse the first API of Amazon SES',
  hiddenFromOpenApi: true,
  response: media('text/xml'),
  refuse(headers: IncomingHttpHeaders) {
    throw isSignedForAws(headers) ? otherApi() : wrongMethod()
  },
  errorRenderer: (refusal, headers) =>
    isSignedForAws(headers) ? raw(errorOf(refusal), { contentType: 'text/xml', status: 400 }) : undefined,
  handle: () => raw('', { contentType: 'text/xml' }),
})
