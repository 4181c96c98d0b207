/** The report of a deliverability test as a page: what it comes to, what to mend first, what large receivers ask for, and every check. */
import type { InspectedTest } from '#core/inspect/inspect-tests.ts'
import { inspectStatus, type InspectTest } from '#core/inspect/inspect-test.ts'
import { checkGroupNames, groupOfCheck } from '#core/inspect/report.ts'
import type { CheckGroup, CheckResult, CheckStatus, Grade, InspectReport } from '#core/inspect/report.ts'
import type { Answer } from '../../operation/answer.ts'
import { html, type Html } from '../layout/html.ts'
import { missesRule, rulesSection } from './inspect-rules.ts'
import { sign } from './inspect-sign.ts'
import { page } from '../layout/layout.ts'
import { timeOf } from '../layout/page-words.ts'

/** `now` in milliseconds since the epoch. */
export function reportPage({ test, report }: InspectedTest, now: number): Answer {
  if (report && test.mail)
    return page({ title: `${report.grade}, ${report.score} of 100`, width: 'wide', content: reportContent(test, report) })
  return unfinishedPage(test, now)
}

const again = (seconds: number): Readonly<Record<string, string>> => ({ refresh: String(seconds) })

function unfinishedPage(test: InspectTest, now: number): Answer {
  const address = `${test.token}@${test.domain}`
  switch (inspectStatus(test, now)) {
    case 'waiting':
      return page({
        title: 'Waiting for your mail',
        headers: again(5),
        content: html`<div class="sheet">
          <h1>Waiting for your mail</h1>
          <p>Send a mail to this address, just as you send it to others:</p>
          <p class="target"><code>${address}</code></p>
          <p class="meta">The first mail that comes until ${timeOf(test.expiresAt)} is checked. This page shows the report by itself.</p>
        </div>`,
      })
    case 'expired':
      return page({
        title: 'No mail came',
        content: html`<div class="sheet">
          <h1>No mail came</h1>
          <p>
            The address of this test took mail until ${timeOf(test.expiresAt)}, and none arrived. Make a new test, and send to its address.
          </p>
        </div>`,
      })
    case 'failed':
      return page({
        title: 'No report',
        content: html`<div class="sheet">
          <h1>The mail could not be checked</h1>
          <p>${test.problem}</p>
          <p>Create a new test, and send the mail again.</p>
        </div>`,
      })
    default:
      return page({
        title: 'Your mail is being checked',
        headers: again(2),
        content: html`<div class="sheet">
          <h1>Your mail is being checked</h1>
          <p>It arrived. DNS is asked about its sender; that takes some seconds, and then this page shows the report.</p>
        </div>`,
      })
  }
}

/** Checks that go without an answer only while DNS is silent, and without which the sender is unknown. */
const basics: ReadonlySet<string> = new Set(['spf', 'dkim', 'dmarc', 'dmarc_policy', 'sender_domain'])
const isPartial = ({ checks }: InspectReport): boolean => checks.some(({ id, status }) => status === 'na' && basics.has(id))

const verdicts: Readonly<Record<Grade, string>> = {
  A: 'Ready for the inbox',
  B: 'Good, with some rough edges',
  C: 'It may land in spam',
  D: 'It will often land in spam',
  F: 'Many receivers will refuse it',
}

function verdictOn(report: InspectReport): string {
  const { grade, requirements } = report
  if ((grade === 'A' || grade === 'B') && isPartial(report)) return 'Good, as far as it could be checked'
  return verdicts[grade === 'A' && requirements.some(missesRule) ? 'B' : grade]
}

function reportContent(test: InspectTest, report: InspectReport): Html {
  return html`${headline(test, report)} ${partialNote(report)} ${capsNote(report)} ${mending(report)} ${rulesSection(report.requirements)}
    <section aria-labelledby="checks" class="sheet">
      <h2 id="checks">All ${report.checks.length} checks</h2>
      ${checkGroupNames.map((group) =>
        checkGroup(
          groupTitles[group],
          report.checks.filter(({ id }) => groupOfCheck(id) === group),
        ),
      )}
    </section>`
}

function headline({ mail, laterMails }: InspectTest, report: InspectReport): Html {
  const { score, grade, checks } = report
  const count = (status: CheckStatus): number => checks.filter((check) => check.status === status).length
  return html`<section class="sheet headline ${isPartial(report) ? 'partial' : `grade-${grade.toLowerCase()}`}" aria-labelledby="verdict">
    ${dial(score, grade)}
    <div>
      <h1 id="verdict">${verdictOn(report)}</h1>
      <p class="subject">${report.mail.subject || '(no subject)'}</p>
      <p class="meta">
        From ${report.mail.from || '(no sender)'}, received ${timeOf(mail?.session.receivedAt ?? 0)} from
        ${mail?.session.helo || 'a nameless server'} [${mail?.session.clientIp}]
      </p>
      <ul class="counts">
        ${(['fail', 'warn', 'pass', 'na'] as const).map(
          (status) => count(status) > 0 && html`<li class="${status}">${sign(status)} ${count(status)} ${countWords[status]}</li>`,
        )}
      </ul>
      ${laterMails > 0 && html`<p class="meta">${laterMails} more came later; only the first mail is checked.</p>`}
    </div>
  </section>`
}

/** A ring that is filled as far as the score goes; its length is 100. */
const dial = (score: number, grade: Grade): Html =>
  html`<div class="dial" role="img" aria-label="${score} of 100 points, grade ${grade}">
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
    <p aria-hidden="true"><b>${score}</b><span>grade ${grade}</span></p>
  </div>`

const partialNote = (report: InspectReport): Html | false =>
  isPartial(report) &&
  html`<div class="note caution held">
    <h2>DNS did not answer all questions</h2>
    <p>
      What it kept silent about does not count, so that the score shows less than it should. That is no fault of the mail: make a new test
      in some minutes.
    </p>
  </div>`

const capsNote = ({ caps }: InspectReport): Html | false =>
  caps.length > 0 &&
  html`<div class="note caution held">
    <h2>The score cannot be above ${Math.min(...caps.map(({ limit }) => limit))} now</h2>
    <ul>
      ${caps.map(({ limit, reason }) => html`<li>${reason} It is ${limit} at most.</li>`)}
    </ul>
  </div>`

function mending({ checks }: InspectReport): Html {
  const lost = checks
    .filter(({ status, fix }) => (status === 'fail' || status === 'warn') && fix !== null)
    .toSorted((a, b) => b.max - b.points - (a.max - a.points))
  if (lost.length === 0 && checks.some(({ status, id }) => status === 'na' && basics.has(id))) return html``
  if (lost.length === 0) return html`<div class="note done"><p>There is nothing to improve. Monitor how many readers complain.</p></div>`
  return html`<section aria-labelledby="mend" class="sheet">
    <h2 id="mend">What to improve, by score</h2>
    <ol class="mend">
      ${lost.map(
        ({ id, title, status, points, max, summary, fix }) =>
          html`<li>
            <h3>
              <span class="${status}">${sign(status)}</span> <a href="#check-${id}">${title}</a>
              <span class="gain">${plusPoints(max - points)}</span>
            </h3>
            <p>${summary}</p>
            <p class="fix"><b>Do this:</b> ${fix}</p>
          </li>`,
      )}
    </ol>
  </section>`
}

const plusPoints = (points: number): string => `+${points} ${points === 1 ? 'point' : 'points'}`

const groupTitles: Readonly<Record<CheckGroup, string>> = {
  sender: 'Who the mail is from',
  server: 'The server that sent it',
  domains: 'The domains behind it',
  form: 'How it is written',
  content: 'What stands in it',
}

const checkGroup = (title: string, checks: readonly CheckResult[]): Html =>
  html`<h3 class="group">${title}</h3>
    ${checks.map(checkDetails)}`

const checkDetails = ({ id, title, status, points, max, summary, evidence, fix, references }: CheckResult): Html =>
  html`<details class="result ${status}" id="check-${id}">
    <summary>
      ${sign(status)} <span class="name">${title}</span>
      <span class="points">${status === 'na' ? 'does not count' : `${points} of ${max}`}</span>
    </summary>
    <div class="more">
      <p>${summary}</p>
      ${fix !== null && html`<p class="fix"><b>Do this:</b> ${fix}</p>`}
      ${
        evidence.length > 0 &&
        html`<dl class="evidence">
          ${evidence.map(
            ({ label, value }) =>
              html`<div>
                <dt>${label}</dt>
                <dd>${value}</dd>
              </div>`,
          )}
        </dl>`
      }
      <p class="meta">
        Read on:
        ${references.map(
          ({ title: text, url }, at) => html`${at > 0 && ' · '}<a href="${url}" rel="noreferrer noopener" target="_blank">${text}</a>`,
        )}
      </p>
    </div>
  </details>`

const countWords: Readonly<Record<CheckStatus, string>> = { fail: 'failed', warn: 'to improve', pass: 'passed', na: 'not counted' }
