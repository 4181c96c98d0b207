/** Templates of other services in Postern's syntax: each supported form, and the place of each unsupported one. */
import test from '#test'
import type { Service } from '#ingest/exports/export-shapes.ts'
import { parseTemplate } from '#core/templates/parser.ts'
import { foreignTemplate, templatesIn } from '#ingest/templates/template-documents.ts'
import { translated } from '#ingest/templates/translate.ts'
import { Seeded } from '../../support/seeded.ts'

const mapped: readonly (readonly [Service, string, string])[] = [
  ['sendgrid', 'Hi {{name}}{{! note }}, {{ user.first }}', 'Hi {{.name}}, {{.user.first}}'],
  ['sendgrid', '{{insert name "default=Customer"}}', '{{if .name}}{{.name}}{{else}}Customer{{end}}'],
  ['sendgrid', '{{#if a}}A{{else if b}}B{{else}}C{{/if}}', '{{if .a}}A{{else if .b}}B{{else}}C{{end}}'],
  [
    'ses',
    '{{#each items}}{{this.title}} {{price}} {{@root.currency}} {{../shop}}{{else}}none{{/each}}',
    '{{range .items}}{{.title}} {{.price}} {{$.currency}} {{$.shop}}{{else}}none{{end}}',
  ],
  ['ses', '{{#each tags}}{{this}}{{.}}{{/each}}', '{{range .tags}}{{.}}{{.}}{{end}}'],
  ['mailgun', '{{#each items as |item|}}{{item.title}} {{shop}}{{/each}}', '{{range .items}}{{.title}} {{$.shop}}{{end}}'],
  ['mailgun', '{{~name~}} {{#unless paid}}due{{/unless}}', '{{- .name -}} {{if .paid}}{{else}}due{{end}}'],
  ['postmark', '{{#each rows}}{{.}}{{/each}}{{^paid}}due{{/paid}}', '{{range .rows}}{{.}}{{end}}{{if .paid}}{{else}}due{{end}}'],
  ['resend', '{{{NAME}}} {{{CITY|Bern}}}', '{{.NAME}} {{if .CITY}}{{.CITY}}{{else}}Bern{{end}}'],
  [
    'sparkpost',
    '{{name or "you"}} {{if a}}x{{elseif b}}y{{else}}z{{end}} {{each list}}{{loop_var.t}}{{shop}}{{end}}',
    '{{if .name}}{{.name}}{{else}}you{{end}} {{if .a}}x{{else if .b}}y{{else}}z{{end}} {{range .list}}{{.t}}{{$.shop}}{{end}}',
  ],
  [
    'brevo',
    '{{ params.name }} {{ params.x|default:"y" }} {% for i in params.items %}{{ i.t }} {{ params.c }}{% endfor %}{# note #}',
    '{{.name}} {{if .x}}{{.x}}{{else}}y{{end}} {{range .items}}{{.t}} {{$.c}}{{end}}',
  ],
  ['mailersend', '{$name} {{ order.id }} {% if not paid %}due{% endif %}', '{{.name}} {{.order.id}} {{if .paid}}{{else}}due{{end}}'],
  [
    'mailjet',
    '{{var:name}} {{var:city:"Bern"}} {% if var:a %}x{% else %}y{% endif %}{% for i in var:list %}{{i.t}}{% endfor %}',
    '{{.name}} {{if .city}}{{.city}}{{else}}Bern{{end}} {{if .a}}x{{else}}y{{end}}{{range .list}}{{.t}}{{end}}',
  ],
]

test('translated(): output is valid for the template engine', (t) => {
  for (const [service, source, wanted] of mapped) {
    const { text, problems } = translated(service, source, false)
    t.deepEqual([text, problems], [wanted, []], source)
    t.notThrows(() => parseTemplate(text), text)
  }
  t.is(translated('brevo', '{{ params.x|default:"<b>" }}', true).text, '{{if .x}}{{.x}}{{else}}&lt;b&gt;{{end}}')
})

const unmapped: readonly (readonly [Service, string, RegExp])[] = [
  ['sendgrid', 'a\n  {{{raw}}}', /^raw inserts raw HTML/],
  ['sendgrid', '\n  {{#equals a b}}x{{/equals}}', /^the helper equals has no counterpart/],
  ['sendgrid', '\n  <%asm_group_unsubscribe_url%>', /is filled in by the service$/],
  ['mailgun', '\n  {{> footer}}', /partials have no counterpart/],
  ['mailgun', '\n  %recipient.name%', /is filled in by the service$/],
  ['postmark', '\n  {{#product}}x{{/product}}', /can be a condition or a loop/],
  ['postmark', '\n  {{#each a}}{{#each b}}{{../c}}{{/each}}{{/each}}', /outer loop/],
  ['ses', '\n  {{formatDate day "YYYY"}}', /without functions is allowed here$/],
  ['ses', '\n  {{#if a}}x', /^if is never closed$/],
  ['ses', '\n  {{name', /^\{\{ is never closed$/],
  ['ses', '\n  {{#unless a}}x{{else}}y{{/unless}}', /unless with else/],
  ['brevo', '\n  {{ contact.FIRSTNAME }}', /is not a variable of the send/],
  ['brevo', '\n  {% if params.a == 1 %}x{% endif %}', /no counterpart/],
  ['mailjet', '\n  {{data:name}}', /is not a variable of the send/],
  ['resend', '\n  {{{RESEND_UNSUBSCRIBE_URL}}}', /filled in by the service/],
  ['sparkpost', '\n  {{loop_vars.x}}', /no counterpart/],
]

test('translated(): reports code without a counterpart with line and column', (t) => {
  for (const [service, source, message] of unmapped) {
    const { problems } = translated(service, source, true)
    t.regex(problems[0]?.message ?? '', message, source)
    t.is(problems[0]?.line, 2, source)
  }
})

test('templatesIn(): finds templates in the responses of each service', (t) => {
  const documents: readonly (readonly [unknown, Service, string, string | undefined])[] = [
    [
      {
        id: 'd-1f',
        name: 'N',
        generation: 'dynamic',
        versions: [
          { active: 0, subject: 'old' },
          { active: 1, subject: 'S', html_content: '<p>' },
        ],
      },
      'sendgrid',
      '1f',
      'S',
    ],
    [{ TemplateId: 7, Alias: null, Name: 'N', Subject: 'S', HtmlBody: '<p>', TextBody: '' }, 'postmark', '7', 'S'],
    [
      { template: { name: 'welcome', description: 'D', version: { tag: 'a', template: '<p>', engine: 'handlebars' } } },
      'mailgun',
      'welcome',
      undefined,
    ],
    [{ Template: { TemplateName: 'Welcome', SubjectPart: 'S', HtmlPart: '<p>' } }, 'ses', 'Welcome', 'S'],
    [{ TemplateName: 'W', TemplateContent: { Subject: 'S', Text: 't' } }, 'ses', 'W', 'S'],
    [{ results: { id: 'w', name: 'N', published: true, content: { subject: 'S', html: '<p>' } } }, 'sparkpost', 'w', 'S'],
    [{ count: 1, templates: [{ id: 3, name: 'N', subject: 'S', htmlContent: '<p>' }] }, 'brevo', '3', 'S'],
    [{ Count: 1, Data: [{ ID: 5, Name: 'N', Headers: { Subject: 'S' }, 'Html-part': '<p>', 'Text-part': '' }] }, 'mailjet', '5', 'S'],
    [{ object: 'template', id: 'u', alias: 'w', name: 'N', subject: 'S', html: '<p>', variables: [] }, 'resend', 'w', 'S'],
  ]
  for (const [document, service, key, subject] of documents) {
    const [found] = templatesIn(document).map((one) => foreignTemplate(one, undefined))
    t.like(found, { service, key, subject, problem: undefined }, JSON.stringify(document))
  }
  t.is(foreignTemplate({ id: 1, html: '<p>' }, undefined), undefined)
  t.like(foreignTemplate({ id: 1, html: '<p>' }, 'mailersend'), { key: '1', html: '<p>' })
  t.regex(foreignTemplate({ TemplateId: 1, TemplateType: 'Layout', HtmlBody: 'x' }, undefined)?.problem ?? '', /layout/)
  t.regex(foreignTemplate({ id: 'd-1', name: 'N', versions: [{ active: 1 }] }, undefined)?.problem ?? '', /content is missing/)
})

test('translated(): random templates give a valid translation or a finding', (t) => {
  const seeded = new Seeded('hostile templates')
  const bits = [
    '{{',
    '}}',
    '{{{',
    '}}}',
    '{%',
    '%}',
    '{#',
    '#}',
    '{$',
    '}',
    'if ',
    'each ',
    '#if a',
    '/if',
    'else',
    '#each b',
    '/each',
    'for i in b',
    'endfor',
    'a.b',
    'this',
    '../',
    '@root.',
    ' ',
    '\n',
    '"',
    '|',
    '~',
    '!--',
    'x',
  ]
  const services: readonly Service[] = ['sendgrid', 'resend', 'sparkpost', 'brevo', 'mailersend', 'mailjet', 'postmark']
  for (let round = 0; round < 5000; round++) {
    const source = Array.from({ length: seeded.between(1, 25) }, () => seeded.pick(bits)).join('')
    const { text, problems } = translated(seeded.pick(services), source, seeded.chance(0.5))
    if (problems.length === 0) t.notThrows(() => readOrReported(text), JSON.stringify([source, text]))
  }
  t.pass()
})

/** The engine refuses some names when the template is checked; these are reported then. */
function readOrReported(text: string): void {
  try {
    parseTemplate(text)
  } catch (error) {
    if (!/is no variable|nest deeper|at most 10/.test((error as Error).message)) throw error
  }
}

test('translated(): linear on the largest template with unclosed tags', (t) => {
  for (const open of ['{{', '{{{', '{%', '{#', '{{!--', '{$', '{{a', '<%', '%recipient', '{{#if a}}'])
    for (const service of ['sendgrid', 'brevo', 'mailgun', 'mailjet'] as const)
      t.notThrows(() => translated(service, open.repeat(262_144 / open.length), true))
})
