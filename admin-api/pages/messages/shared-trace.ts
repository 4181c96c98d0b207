/** The public view of a trace as a page: the outcome of a message, without private data of its sender. */
import type { IncomingHttpHeaders } from 'node:http'
import type { SharedTrace } from '#core/trace/timeline/redact.ts'
import type { Answer } from '../../operation/answer.ts'
import { varies } from '../../http/negotiation.ts'
import { html } from '../layout/html.ts'
import { page } from '../layout/layout.ts'
import { statusTag, statusText, timeline } from './trace-texts.ts'
import { textsFor } from '../texts/texts-for.ts'
import { timeOf } from '../layout/page-texts.ts'

export function sharedTracePage(trace: SharedTrace, headers: IncomingHttpHeaders): Answer {
  const texts = textsFor(headers)
  const said = texts.trace
  const { label, sentence } = statusText(trace.status, texts)
  return page({
    title: said.title({ label }),
    lang: texts.lang,
    width: 'wide',
    headers: varies,
    content: html`<section class="sheet" aria-labelledby="verdict">
        <p class="eyebrow">${said.eyebrow}</p>
        <h1 id="verdict">${sentence}</h1>
        <dl class="mail">
          <dt>${said.status}</dt>
          <dd>${statusTag(trace.status, texts)}</dd>
          <dt>${said.accepted}</dt>
          <dd>${timeOf(trace.createdAt, texts.lang)}</dd>
          ${
            trace.provider !== null &&
            html`<dt>${said.provider}</dt>
              <dd>${trace.provider}</dd>`
          }
          <dt>${said.trace}</dt>
          <dd><code class="token">${trace.traceId}</code></dd>
        </dl>
      </section>
      ${
        trace.recipients.length > 0 &&
        html`<section class="sheet" aria-labelledby="recipients">
          <h2 id="recipients">${trace.recipients.length === 1 ? said.recipient : said.recipients}</h2>
          <ul class="rows">
            ${trace.recipients.map(
              ({ address, status }) =>
                html`<li>
                  <code class="token">${address}</code>
                  <p class="side">${statusTag(status, texts)}</p>
                </li>`,
            )}
          </ul>
        </section>`
      }
      <section class="sheet" aria-labelledby="timeline">
        <h2 id="timeline">${said.timeline}</h2>
        ${timeline(trace.timeline, texts)}
      </section>
      <p class="meta aside">${said.aside}</p>`,
  })
}
