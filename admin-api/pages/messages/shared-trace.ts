/** The public view of a trace as a page: verdict, stations with the replies of servers, and help, without private data. */
import type { IncomingHttpHeaders } from 'node:http'
import { hiddenMark } from '#core/trace/timeline/hide-addresses.ts'
import type { SharedReply, SharedTrace } from '#core/trace/timeline/redact.ts'
import type { Answer } from '../../operation/answer.ts'
import { varies } from '../../http/negotiation.ts'
import { html, type Html } from '../layout/html.ts'
import { page } from '../layout/layout.ts'
import { timeOf } from '../layout/page-texts.ts'
import { textsFor, type PageTexts } from '../texts/texts-for.ts'
import { statusTag, statusText, timeline, type ShownEntry, type Tone } from './trace-texts.ts'

export function sharedTracePage(trace: SharedTrace, headers: IncomingHttpHeaders): Answer {
  const texts = textsFor(headers)
  const said = texts.trace
  const { label, sentence } = statusText(trace.status, texts)
  const { reasons } = said
  const reason = trace.reason !== null && Object.hasOwn(reasons, trace.reason) ? reasons[trace.reason as keyof typeof reasons] : undefined
  return page({
    title: said.title({ label }),
    lang: texts.lang,
    width: 'wide',
    headers: varies,
    content: html`<div class="shared-trace">
      <section class="sheet" aria-labelledby="verdict">
        <p>${statusTag(trace.status, texts)}</p>
        <h1 id="verdict">${reason?.verdict ?? sentence}</h1>
        ${reason && html`<p class="lead">${sentence}</p>`}
        <dl class="mail">
          ${recipientsOf(trace, texts)}
          <dt>${said.subject}</dt>
          <dd>${hatch(texts, 'long')}</dd>
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
      <section class="sheet" aria-labelledby="timeline">
        <h2 id="timeline">${said.happened}</h2>
        <p class="soft">${said.lead}</p>
        ${timeline(stationsOf(trace, texts), texts)}
        ${
          reason &&
          html`<div class="helps">
            <h3>${said.helps}</h3>
            <p>${reason.help}</p>
          </div>`
        }
        <p class="meta aside">${said.aside}</p>
      </section>
    </div>`,
  })
}

function recipientsOf({ recipients }: SharedTrace, texts: PageTexts): Html | false {
  const { recipient, recipients: several } = texts.trace
  const isOne = recipients.length === 1
  return (
    recipients.length > 0 &&
    html`<dt>${isOne ? recipient : several}</dt>
      ${recipients.map(
        ({ address, status }) =>
          html`<dd>
            <code class="token">${hatch(texts)}${address.slice(address.lastIndexOf('@'))}</code>
            ${!isOne && statusTag(status, texts)}
          </dd>`,
      )}`
  )
}

/** Marks hidden text. */
const hatch = ({ trace }: PageTexts, size = ''): Html =>
  html`<span class="hatch ${size}"><span class="hidden">${trace.hiddenText}</span></span>`

const tones: Readonly<Record<SharedReply['verdict'], Tone>> = { accepted: 'good', transient: 'warn', permanent: 'bad', unknown: 'warn' }
/** From the mildest to the worst. */
const verdicts = ['accepted', 'transient', 'unknown', 'permanent'] as const

/** Returns the timeline with the replies of each attempt, and replies quoted by bounces at the last bounce. */
function stationsOf({ timeline: entries, replies }: SharedTrace, texts: PageTexts): ShownEntry[] {
  const lastBounce = entries.findLastIndex(({ event }) => event === 'bounced')
  let attempt = 0
  return entries.map((entry, i) => {
    if (entry.event === 'attempt') attempt++
    const own = replies.filter((reply) =>
      entry.event === 'attempt' ? reply.attempt === attempt : i === lastBounce && reply.attempt === null,
    )
    if (own.length === 0) return entry
    const worst = verdicts.findLast((verdict) => own.some((reply) => reply.verdict === verdict)) ?? 'unknown'
    const heading = entry.event === 'attempt' ? { label: texts.trace.attempts[worst]({ n: attempt }), tone: tones[worst] } : undefined
    return { ...entry, heading, details: html`${own.map((reply) => replyOf(reply, texts))}` }
  })
}

const replyOf = ({ verdict, code, enhanced, text }: SharedReply, texts: PageTexts): Html => {
  const parts = text.split(hiddenMark)
  return html`<pre class="reply tone-${tones[verdict]}" lang="und"><span class="code">${code}</span> ${
    enhanced !== null && !text.startsWith(enhanced) && `${enhanced} `
  }${parts.map((part, i) => html`${i > 0 && hatch(texts)}${part}`)}</pre>`
}
