/** The public view of a trace as a page: the outcome of a message, without private data of its sender. */
import type { IncomingHttpHeaders } from 'node:http'
import type { SharedTrace } from '#core/trace/timeline/redact.ts'
import type { Answer } from '../../operation/answer.ts'
import { varies } from '../../http/negotiation.ts'
import { html } from '../layout/html.ts'
import { page } from '../layout/layout.ts'
import { statusTag, statusWords, timeline } from './trace-words.ts'
import { wordsFor } from '../words/words-for.ts'
import { timeOf } from '../layout/page-words.ts'

export function sharedTracePage(trace: SharedTrace, headers: IncomingHttpHeaders): Answer {
  const words = wordsFor(headers)
  const said = words.trace
  const { label, sentence } = statusWords(trace.status, words)
  return page({
    title: said.title({ label }),
    lang: words.lang,
    width: 'wide',
    headers: varies,
    content: html`<section class="sheet" aria-labelledby="verdict">
        <p class="eyebrow">${said.eyebrow}</p>
        <h1 id="verdict">${sentence}</h1>
        <dl class="mail">
          <dt>${said.status}</dt>
          <dd>${statusTag(trace.status, words)}</dd>
          <dt>${said.accepted}</dt>
          <dd>${timeOf(trace.createdAt, words.lang)}</dd>
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
                  <p class="side">${statusTag(status, words)}</p>
                </li>`,
            )}
          </ul>
        </section>`
      }
      <section class="sheet" aria-labelledby="timeline">
        <h2 id="timeline">${said.timeline}</h2>
        ${timeline(trace.timeline, words)}
      </section>
      <p class="meta aside">${said.aside}</p>`,
  })
}
