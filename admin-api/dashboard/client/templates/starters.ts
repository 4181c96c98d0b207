/** Starter templates: small, readable with and without HTML, in light and dark, with a schema of their variables. */

export interface Starter {
  readonly id: 'blank' | 'reset' | 'order' | 'welcome' | 'invoice' | 'invitation' | 'notice'
  readonly slug: string
  readonly subject: string
  readonly text: string
  readonly html: string
  readonly schema: Readonly<Record<string, unknown>> | null
}

type Properties = Readonly<Record<string, unknown>>

const text = { type: 'string' } as const
const schemaOf = (properties: Properties) => ({ type: 'object', required: Object.keys(properties), properties })

const page = (title: string, body: string): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${title}</title>
    <style>
      body { margin: 0; padding: 24px; background: #f4f5f4; color: #1b2421; font: 16px/1.5 Arial, sans-serif; }
      .card { max-width: 560px; margin: 0 auto; padding: 28px; background: #ffffff; }
      .button { display: inline-block; padding: 12px 18px; background: #0f5f5c; color: #ffffff; text-decoration: none; }
      .small { color: #5c6763; font-size: 13px; }
      @media (prefers-color-scheme: dark) {
        body { background: #121715; color: #e6ebe9; }
        .card { background: #1b2220; }
        .small { color: #a3afaa; }
      }
    </style>
  </head>
  <body>
    <div class="card">
${body}
    </div>
  </body>
</html>
`

export const starters: readonly Starter[] = [
  { id: 'blank', slug: 'new', subject: 'Hello {{.name}}', text: 'Hello {{.name}}\n', html: '', schema: null },
  {
    id: 'reset',
    slug: 'password-reset',
    subject: 'Set a new password',
    text: 'Hello {{.name}}\n\nSet a new password within {{.minutes}} minutes:\n{{.url}}\n\nYou did not ask for this? Then do nothing.\n',
    html: page(
      'Set a new password',
      `      <h1>Set a new password</h1>
      <p>Hello {{.name}}, the link works for {{.minutes}} minutes.</p>
      <p><a class="button" href="{{.url}}">Set a new password</a></p>
      <p class="small">You did not ask for this? Then do nothing.</p>`,
    ),
    schema: schemaOf({ name: text, url: text, minutes: { type: 'integer' } }),
  },
  {
    id: 'order',
    slug: 'order-confirmation',
    subject: 'Your order {{.number}}',
    text: 'Thank you, {{.name}}.\n\n{{range .items}}{{.title}}  {{.price}}\n{{end}}\nTotal {{.total}}\n\n{{.url}}\n',
    html: page(
      'Your order',
      `      <h1>Thank you, {{.name}}</h1>
      <table width="100%">
        {{range .items}}<tr><td>{{.title}}</td><td align="right">{{.price}}</td></tr>
        {{end}}<tr><td><b>Total</b></td><td align="right"><b>{{.total}}</b></td></tr>
      </table>
      <p><a class="button" href="{{.url}}">See the order {{.number}}</a></p>`,
    ),
    schema: schemaOf({
      number: { type: 'integer' },
      name: text,
      items: { type: 'array', items: schemaOf({ title: text, price: text }) },
      total: text,
      url: text,
    }),
  },
  {
    id: 'welcome',
    slug: 'welcome',
    subject: 'Welcome, {{.name}}',
    text: 'Welcome, {{.name}}.\n\nYour account is ready:\n{{.url}}\n',
    html: page(
      'Welcome',
      `      <h1>Welcome, {{.name}}</h1>
      <p>Your account is ready.</p>
      <p><a class="button" href="{{.url}}">Begin</a></p>`,
    ),
    schema: schemaOf({ name: text, url: text }),
  },
  {
    id: 'invoice',
    slug: 'invoice',
    subject: 'Invoice {{.number}}',
    text: 'Invoice {{.number}}\n\nAmount {{.amount}}, due on {{.due}}.\n{{.url}}\n',
    html: page(
      'Invoice',
      `      <h1>Invoice {{.number}}</h1>
      <p>Amount <b>{{.amount}}</b>, due on {{.due}}.</p>
      <p><a class="button" href="{{.url}}">See the invoice</a></p>`,
    ),
    schema: schemaOf({ number: text, amount: text, due: text, url: text }),
  },
  {
    id: 'invitation',
    slug: 'invitation',
    subject: '{{.inviter}} invites you to {{.team}}',
    text: '{{.inviter}} invites you to {{.team}}.\n\nJoin: {{.url}}\n',
    html: page(
      'Invitation',
      `      <h1>{{.inviter}} invites you to {{.team}}</h1>
      <p><a class="button" href="{{.url}}">Join</a></p>`,
    ),
    schema: schemaOf({ inviter: text, team: text, url: text }),
  },
  {
    id: 'notice',
    slug: 'notice',
    subject: '{{.title}}',
    text: '{{.title}}\n\n{{.message}}\n{{if .url}}\n{{.url}}\n{{end}}',
    html: page(
      'Notice',
      `      <h1>{{.title}}</h1>
      <p>{{.message}}</p>
      {{if .url}}<p><a class="button" href="{{.url}}">More</a></p>{{end}}`,
    ),
    schema: { type: 'object', required: ['title', 'message'], properties: { title: text, message: text, url: text } },
  },
]

/** Returns a slug for a name: `Order sent` becomes `order-sent`. */
export const slugOf = (name: string): string =>
  name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 64)
