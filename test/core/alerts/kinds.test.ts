/** The requests of every kind of channel, also with names that chats could read as commands, and without secrets in answers. */
import test from '#test'
import { alertEvent, cleanName, testEvent, type AlertEvent } from '#core/alerts/kinds/alert-event.ts'
import { discord } from '#core/alerts/kinds/discord.ts'
import type { AlertToWrite } from '#core/alerts/kinds/kind.ts'
import { alertMail } from '#core/alerts/kinds/mail.ts'
import { ntfy } from '#core/alerts/kinds/ntfy.ts'
import { slack } from '#core/alerts/kinds/slack.ts'
import { teams } from '#core/alerts/kinds/teams.ts'
import { telegram, telegramWaitMs } from '#core/alerts/kinds/telegram.ts'
import { webhook } from '#core/alerts/kinds/webhook.ts'
import { redactor } from '#core/alerts/channels/redact.ts'
import type { Finding } from '#core/findings/finding.ts'

const at = Date.UTC(2030, 0, 15, 12)
const hostile = '<!channel> @everyone [x](http://evil)'
const finding: Finding = {
  ...{ id: 'fnd_1', kind: 'alerts.undeliverable', subject: 'alc_9', projectId: '', severity: 'warning' },
  ...{ params: { channel: hostile, reason: 'receiver' }, check: 'alerts', state: 'open', openedAt: at - 7_200_000, changedAt: at },
  ...{ overAt: null, acknowledged: null, mutedUntil: null, notified: {} },
}
const facts = { id: 'evt_1', at, organization: { id: 'org_1', name: 'Bellevue' }, url: 'https://post.example.ch/', language: 'en' }
const ended: Finding = {
  ...finding,
  id: 'fnd_2',
  kind: 'destination.resting',
  params: { name: 'Postmark' },
  state: 'over',
  overAt: at - 600_000,
}
const event = alertEvent(facts, { open: [finding], more: 2, over: [ended], moreOver: 0 })

const given = (of: AlertEvent = event): AlertToWrite => ({
  ...{ event: of, language: 'en', body: JSON.stringify(of), deliveryId: '5f0c5e0e-0000-4000-8000-000000000001', at },
})
const url = 'https://chat.example/hook/abcdefgh'
const summary =
  `The receiver of the channel ${hostile} has accepted no alert for 5 minutes. Other channels get these alerts. ` +
  'Test the channel under Settings, Alerts, and correct its target.'
const title = `Warning in Bellevue: Alerts to ${hostile} don't arrive (and 2 more)`
const paragraphs = [
  `Warning: Alerts to ${hostile} don't arrive. ${summary}`,
  'And 2 more.',
  'Resolved: Postmark is paused. It lasted 110 minutes.',
]
const block = paragraphs.join('\n\n')

test('slack: plain texts, and an escaped fallback', (t) => {
  const ofSlack = 'https://hooks.slack.com/services/T0/B0/abcdefgh'
  const { body, headers, url: to } = slack(given(), { url: ofSlack })
  const escaped = `${title}\n\n${block}`.replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  t.deepEqual([to, headers], [ofSlack, {}])
  t.deepEqual(JSON.parse(body), {
    text: `${escaped}\n\nhttps://post.example.ch/`,
    ...{ mrkdwn: false, unfurl_links: false },
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: title, emoji: false } },
      { type: 'section', text: { type: 'plain_text', text: block, emoji: false } },
      {
        type: 'actions',
        elements: [{ type: 'button', text: { type: 'plain_text', text: 'Open Postern', emoji: false }, url: 'https://post.example.ch/' }],
      },
    ],
  })
})

test('slack: servers that read Markdown in the text, such as Mattermost, show names as they are', (t) => {
  const { text, blocks } = JSON.parse(slack(given(), { url }).body)
  t.true(text.includes('the channel &lt;!channel&gt; @\u2060everyone \\[x\\](http:\u2060//evil) has accepted'), text)
  t.true(text.endsWith('\n\nhttps://post.example.ch/'), 'the own link stays')
  t.is(blocks[1].text.text, block)
  const shown = text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('\u2060', '').replaceAll(/\\(.)/g, '$1')
  t.is(shown, `${title}\n\n${block}\n\nhttps://post.example.ch/`)
})

test('discord: one embed, no mentions, and escaped Markdown', (t) => {
  const { allowed_mentions: mentions, embeds } = JSON.parse(discord(given(), { url }).body)
  t.deepEqual(mentions, { parse: [] })
  t.is(embeds.length, 1)
  t.like(embeds[0], { url: 'https://post.example.ch/', color: 0xa86400 })
  t.is(embeds[0].description.replaceAll(/\\(.)/g, '$1'), block)
  t.true(embeds[0].description.includes(String.raw`\<!channel\> \@everyone \[x\]\(http\://evil\)`))
})

test('teams: an adaptive card with a summary, in text runs', (t) => {
  const { type, summary: shown, attachments } = JSON.parse(teams(given(), { url }).body)
  t.deepEqual([type, shown], ['message', title])
  const { content } = attachments[0]
  t.like(content, { type: 'AdaptiveCard', version: '1.4', fallbackText: `${title}\n\n${block}\n\nhttps://post.example.ch/` })
  t.deepEqual(content.body[1], { type: 'RichTextBlock', inlines: [{ type: 'TextRun', text: paragraphs[0] }] })
  t.deepEqual(content.actions, [{ type: 'Action.OpenUrl', title: 'Open Postern', url: 'https://post.example.ch/' }])
})

test('telegram: a message without parse mode, and the delay of a 429', (t) => {
  const { url: to, body } = telegram(given(), { url: 'https://api.telegram.org/', botToken: '123456:secret', chatId: '-100' })
  t.is(to, 'https://api.telegram.org/bot123456:secret/sendMessage')
  t.deepEqual(JSON.parse(body), {
    ...{ chat_id: '-100', text: `${title}\n\n${block}\n\nhttps://post.example.ch/`, link_preview_options: { is_disabled: true } },
  })
  t.is(telegramWaitMs('{"ok":false,"error_code":429,"parameters":{"retry_after":35}}'), 35_000)
  t.is(telegramWaitMs('{"ok":false}'), undefined)
})

test('ntfy: priorities, a token, and at most 3,500 bytes', (t) => {
  const { url: to, body, headers } = ntfy(given(), { url: 'https://ntfy.sh/', topic: 'ops', token: 'tk_1' })
  t.deepEqual([to, headers], ['https://ntfy.sh/', { authorization: 'Bearer tk_1' }])
  t.deepEqual(JSON.parse(body), { topic: 'ops', title, message: block, priority: 3, click: 'https://post.example.ch/' })
  const open = Array.from({ length: 10 }, () => ({ ...finding, params: { channel: '😀'.repeat(60), reason: 'receiver' } }))
  const long = alertEvent(facts, { open, more: 0, over: [], moreOver: 0 })
  t.true(Buffer.byteLength(JSON.parse(ntfy(given(long), { url, topic: 'ops', token: null }).body).message) <= 3300)
  const end = alertEvent(facts, { open: [], more: 0, over: [ended], moreOver: 0 })
  t.is(JSON.parse(ntfy(given(end), { url, topic: 'ops', token: null }).body).priority, 2)
})

test('chats with a limit: shorter texts have every finding and every end, or count them', (t) => {
  const open = Array.from({ length: 10 }, (_, i) => ({
    ...finding,
    params: { ...finding.params, channel: 'c'.repeat(60) },
    id: `fnd_${i}`,
  }))
  const over = Array.from({ length: 10 }, (_, i) => ({ ...ended, id: `end_${i}` }))
  const long = alertEvent(facts, { open, more: 2, over, moreOver: 3 })
  const texts = {
    slack: JSON.parse(slack(given(long), { url }).body).blocks[1].text.text,
    discord: JSON.parse(discord(given(long), { url }).body).embeds[0].description.replaceAll('\\', ''),
    ntfy: JSON.parse(ntfy(given(long), { url, topic: 'ops', token: null }).body).message,
    telegram: JSON.parse(telegram(given(long), { url: 'https://api.telegram.org/', chatId: '1', botToken: '1:a' }).body).text,
  }
  const sum = (text: string, listed: RegExp, counted: RegExp): number =>
    text.matchAll(listed).toArray().length + Number(counted.exec(text)?.[1] ?? 0)
  for (const [kind, text] of Object.entries(texts)) {
    t.is(sum(text, /^Warning: /gm, /^And (\d+) more\.$/m), 12, `${kind}: ${text}`)
    t.is(sum(text, /^Resolved: /gm, /^And (\d+) more are resolved\.$/m), 13, `${kind}: ${text}`)
  }
  t.regex(texts.slack, /^Warning: .{60,}Test the channel under Settings/, 'the first finding keeps its remedy')
})

test('webhook: the stored event, signed', (t) => {
  const { body, headers } = webhook(given(), { url, secret: 'whsec_AAAA' })
  t.is(body, JSON.stringify(event))
  t.regex(headers['x-service-signature'] ?? '', /^sha256=[\da-f]{64}$/)
  t.like(event.data.open[0], { kind: 'alerts.undeliverable', severity: 'warning', group: 'service', project_id: null, subject: 'alc_9' })
  t.true(event.data.open[0]?.summary.includes(hostile))
})

test('mail: subject, paragraphs and the reason', (t) => {
  const mail = alertMail(event, 'en', 'member')
  t.is(mail.subject, title)
  t.true(mail.text.includes(paragraphs[0]!))
  t.true(mail.html.includes('&lt;!channel&gt; @everyone [x](http://evil)'))
  t.regex(mail.text, /owner or admin/)
})

test('a test alert names the organization', (t) => {
  t.like(JSON.parse(slack(given(testEvent(facts)), { url }).body), {
    text: 'Test alert from Bellevue\n\nThis channel gets the alerts of Bellevue.\n\nhttps://post.example.ch/',
  })
})

test('names are one line of 60 characters without invisible characters', (t) => {
  t.is(cleanName(hostile), hostile)
  t.is(cleanName('a\u202eb\u200bc\nd\u0000e'), 'a b c d e')
  t.is(cleanName('x'.repeat(80)), `${'x'.repeat(59)}…`)
})

test('answers lose the URL, its parts and tokens, in every spelling and at a cut end', (t) => {
  const redact = redactor(['https://hooks.slack.example/services/T0000/B0000/abcdefghijkl?key=verysecret', '123:tokenvalue'])
  const echo = [
    'no_service https://hooks.slack.example/services/T0000/B0000/abcdefghijkl?key=verysecret',
    String.raw`{"path":"\/services\/T0000\/B0000\/abcdefghijkl"}`,
    'abcdefghijkl verysecret 123:tokenvalue 123%3Atokenvalue',
    'cut off abcdefghij',
  ]
  for (const text of echo) t.notRegex(redact(text), /abcdefgh|verysecret|tokenvalue/)
  t.is(redact('invalid_blocks'), 'invalid_blocks')
})
