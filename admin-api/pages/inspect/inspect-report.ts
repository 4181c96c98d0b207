/**
 * The report of a deliverability test as a page. It shows the score, the problems to fix first, the requirements of large receivers, and
 * every check.
 */
import type { InspectedTest } from '#core/inspect/inspect-tests.ts'
import { inspectStatus, type InspectTest } from '#core/inspect/inspect-test.ts'
import { checkGroupNames, groupOfCheck } from '#core/inspect/report.ts'
import type { CheckResult, CheckStatus, Grade, InspectReport, Said } from '#core/inspect/report.ts'
import type { IncomingHttpHeaders } from 'node:http'
import type { Refusal } from '#core/refusals.ts'
import { problemCode } from '#ingest/inspect/sentences/problems.ts'
import type { Answer } from '../../operation/answer.ts'
import { html, type Html } from '../layout/html.ts'
import { missesRule, rulesSection } from './inspect-rules.ts'
import { named, translated } from './translated.ts'
import { sign } from './inspect-sign.ts'
import { page } from '../layout/layout.ts'
import { timeOf } from '../layout/page-texts.ts'
import { publicRefusalPage } from '../layout/refusal-page.ts'
import { reportTextsFor, type ReportTexts } from './report-texts.ts'

/** Returns the report in the browser's first language. `now` is in milliseconds since the epoch. */
export function reportPage({ test, report }: InspectedTest, now: number, headers: IncomingHttpHeaders): Answer {
  const texts = reportTextsFor(headers)
  if (!report || !test.mail) return unfinishedPage(test, now, texts)
  const title = texts.score({ score: report.score, grade: report.grade })
  return page({ ...frameOf(texts), title, width: 'wide', content: reportContent(test, report, texts) })
}

/** Returns the page for a missing report. */
export function reportRefusalPage(refusal: Refusal, headers: IncomingHttpHeaders): Answer {
  const texts = reportTextsFor(headers)
  if (texts.lang === 'en' || refusal.code !== 'not_found') return publicRefusalPage(refusal, headers)
  const { title, text } = texts.nothing
  const content = html`<div class="sheet">
    <h1>${title}</h1>
    <p>${text}</p>
  </div>`
  return page({ ...frameOf(texts), title, content, status: 404 })
}

const frameOf = ({ lang }: ReportTexts, refreshSeconds?: number) => ({
  lang,
  headers: refreshSeconds === undefined ? {} : { refresh: String(refreshSeconds) },
})

function unfinishedPage(test: InspectTest, now: number, texts: ReportTexts): Answer {
  const { waiting, expired, failed, scoring, lang } = texts
  const address = `${test.token}@${test.domain}`
  switch (inspectStatus(test, now)) {
    case 'waiting':
      return page({
        ...frameOf(texts, 5),
        title: waiting.title,
        content: html`<div class="sheet">
          <h1>${waiting.title}</h1>
          <p>${waiting.text}</p>
          <p class="target"><code>${address}</code></p>
          <p class="meta">${waiting.until({ at: timeOf(test.expiresAt, lang) })}</p>
        </div>`,
      })
    case 'expired':
      return page({
        ...frameOf(texts),
        title: expired.title,
        content: html`<div class="sheet">
          <h1>${expired.title}</h1>
          <p>${expired.text({ at: timeOf(test.expiresAt, lang) })}</p>
        </div>`,
      })
    case 'failed':
      return page({
        ...frameOf(texts),
        title: failed.title,
        content: html`<div class="sheet">
          <h1>${failed.title}</h1>
          <p>${named(texts, 'problems', problemCode(test.problem ?? '') ?? '', test.problem ?? '')}</p>
          <p>${failed.text}</p>
        </div>`,
      })
    default:
      return page({
        ...frameOf(texts, 2),
        title: scoring.title,
        content: html`<div class="sheet">
          <h1>${scoring.title}</h1>
          <p>${scoring.text}</p>
        </div>`,
      })
  }
}

/** Checks that lack a result only if DNS does not respond. Without them, the sender is unknown. */
const basics: ReadonlySet<string> = new Set(['spf', 'dkim', 'dmarc', 'dmarc_policy', 'sender_domain'])
const isPartial = ({ checks }: InspectReport): boolean => checks.some(({ id, status }) => status === 'na' && basics.has(id))

function verdictOn(report: InspectReport, { verdicts, partialVerdict }: ReportTexts): string {
  const { grade, requirements } = report
  if ((grade === 'A' || grade === 'B') && isPartial(report)) return partialVerdict
  return verdicts[grade === 'A' && requirements.some(missesRule) ? 'B' : grade]
}

function reportContent(test: InspectTest, report: InspectReport, texts: ReportTexts): Html {
  return html`${headline(test, report, texts)} ${partialNote(report, texts)} ${capsNote(report, texts)} ${mending(report, texts)}
    ${rulesSection(report.requirements, texts)}
    <section aria-labelledby="checks" class="sheet">
      <h2 id="checks">${texts.all({ count: report.checks.length })}</h2>
      ${checkGroupNames.map((group) =>
        checkGroup(
          texts.groups[group],
          report.checks.filter(({ id }) => groupOfCheck(id) === group),
          texts,
        ),
      )}
    </section>`
}

function headline({ mail, laterMails }: InspectTest, report: InspectReport, texts: ReportTexts): Html {
  const { score, grade, checks } = report
  const count = (status: CheckStatus): number => checks.filter((check) => check.status === status).length
  return html`<section class="sheet headline ${isPartial(report) ? 'partial' : `grade-${grade.toLowerCase()}`}" aria-labelledby="verdict">
    ${dial(score, grade, texts)}
    <div>
      <h1 id="verdict">${verdictOn(report, texts)}</h1>
      <p class="subject">${report.mail.subject || texts.noSubject}</p>
      <p class="meta">
        ${texts.received({
          from: report.mail.from || texts.noSender,
          at: timeOf(mail?.session.receivedAt ?? 0, texts.lang),
          by: mail?.session.helo || texts.nameless,
        })}
        [${mail?.session.clientIp}]
      </p>
      <ul class="counts">
        ${(['fail', 'warn', 'pass', 'na'] as const).map(
          (status) =>
            count(status) > 0 && html`<li class="${status}">${sign(status, texts)} ${count(status)} ${texts.counted[status]}</li>`,
        )}
      </ul>
      ${laterMails > 0 && html`<p class="meta">${texts.later({ count: laterMails })}</p>`}
    </div>
  </section>`
}

/** A ring that the score fills; its length is 100. */
const dial = (score: number, grade: Grade, texts: ReportTexts): Html =>
  html`<div class="dial" role="img" aria-label="${texts.points({ score, grade })}">
    <svg viewBox="0 0 36 36" aria-hidden="true" focusable="false">
      <circle cx="18" cy="18" r="15.915" fill="none" class="groove" stroke-width="2.6" />
      <circle
        cx="18"
        cy="18"
        r="15.915"
        fill="none"
        class="arc"
        stroke-width="2.6"
        stroke-linecap="round"
        stroke-dasharray="${score} 100"
        transform="rotate(-90 18 18)"
      />
    </svg>
    <p aria-hidden="true"><b>${score}</b><span>${texts.gradeOf({ grade })}</span></p>
  </div>`

const partialNote = (report: InspectReport, { partial }: ReportTexts): Html | false =>
  isPartial(report) &&
  html`<div class="note caution held">
    <h2>${partial.title}</h2>
    <p>${partial.text}</p>
  </div>`

const capsNote = ({ caps }: InspectReport, texts: ReportTexts): Html | false =>
  caps.length > 0 &&
  html`<div class="note caution held">
    <h2>${texts.capped({ limit: Math.min(...caps.map(({ limit }) => limit)) })}</h2>
    <ul>
      ${caps.map(({ id, limit, reason }) => html`<li>${named(texts, 'caps', id, reason)} ${texts.cap({ limit })}</li>`)}
    </ul>
  </div>`

function mending({ checks }: InspectReport, texts: ReportTexts): Html {
  const lost = checks
    .filter(({ status, fix }) => (status === 'fail' || status === 'warn') && fix !== null)
    .toSorted((a, b) => b.max - b.points - (a.max - a.points))
  if (lost.length === 0 && checks.some(({ status, id }) => status === 'na' && basics.has(id))) return html``
  if (lost.length === 0) return html`<div class="note done"><p>${texts.nothingToMend}</p></div>`
  return html`<section aria-labelledby="mend" class="sheet">
    <h2 id="mend">${texts.mend}</h2>
    <ol class="mend">
      ${lost.map(
        ({ id, title, status, points, max, summary, summarySaid, fix, fixSaid }) =>
          html`<li>
            <h3>
              <span class="${status}">${sign(status, texts)}</span> <a href="#check-${id}">${named(texts, 'checks', id, title)}</a>
              <span class="gain">${texts.plus({ points: max - points })}</span>
            </h3>
            <p>${translated(texts, summary, summarySaid)}</p>
            <p class="fix"><b>${texts.doThis}</b> ${translated(texts, fix ?? '', fixSaid)}</p>
          </li>`,
      )}
    </ol>
  </section>`
}

const checkGroup = (title: string, checks: readonly CheckResult[], texts: ReportTexts): Html =>
  html`<h3 class="group">${title}</h3>
    ${checks.map((check) => checkDetails(check, texts))}`

const checkDetails = (check: CheckResult, texts: ReportTexts): Html => {
  const { id, title, status, points, max, summary, summarySaid, evidence, fix, fixSaid, references } = check
  return html`<details class="result ${status}" id="check-${id}">
    <summary>
      ${sign(status, texts)} <span class="name">${named(texts, 'checks', id, title)}</span>
      <span class="points">${status === 'na' ? texts.doesNotCount : texts.of({ points, max })}</span>
    </summary>
    <div class="more">
      <p>${translated(texts, summary, summarySaid)}</p>
      ${fix !== null && html`<p class="fix"><b>${texts.doThis}</b> ${translated(texts, fix, fixSaid)}</p>`}
      ${
        evidence.length > 0 &&
        html`<dl class="evidence">
          ${evidence.map(
            ({ label, value, labelSaid, valueSaid }) =>
              html`<div>
                <dt>${evidenceOf(texts, label, labelSaid)}</dt>
                <dd>${evidenceOf(texts, value, valueSaid)}</dd>
              </div>`,
          )}
        </dl>`
      }
      <p class="meta">
        ${texts.readOn}
        ${references.map(
          ({ title: text, url }, at) => html`${at > 0 && ' · '}<a href="${url}" rel="noreferrer noopener" target="_blank">${text}</a>`,
        )}
      </p>
    </div>
  </details>`
}

/** Shows evidence without translation if it has no text in the language. */
const evidenceOf = (texts: ReportTexts, text: string, said: Said | undefined): Html =>
  said ? translated(texts, text, said) : html`${text}`
