/** Configuration snippets for programs that submit mail by SMTP. They never contain the password. */

export interface Settings {
  readonly host: string
  readonly port: number
  /** Whether the port uses implicit TLS instead of STARTTLS. */
  readonly isTls: boolean
  readonly username: string
}

export interface Recipe {
  readonly id: 'php' | 'wordpress' | 'node' | 'postfix' | 'django'
  readonly name: string
  readonly write: (settings: Settings) => string
}

export const recipes: readonly Recipe[] = [
  {
    id: 'php',
    name: 'PHP (Symfony, Laravel)',
    write: ({ host, port, isTls, username }) => `MAILER_DSN=${isTls ? 'smtps' : 'smtp'}://${username}:PASSWORD@${host}:${String(port)}`,
  },
  {
    id: 'wordpress',
    name: 'WordPress',
    write: ({ host, port, isTls, username }) =>
      [
        '// in wp-config.php, with the plugin WP Mail SMTP',
        "define( 'WPMS_ON', true );",
        "define( 'WPMS_MAILER', 'smtp' );",
        `define( 'WPMS_SMTP_HOST', '${host}' );`,
        `define( 'WPMS_SMTP_PORT', ${String(port)} );`,
        `define( 'WPMS_SSL', '${isTls ? 'ssl' : 'tls'}' );`,
        "define( 'WPMS_SMTP_AUTH', true );",
        `define( 'WPMS_SMTP_USER', '${username}' );`,
        "define( 'WPMS_SMTP_PASS', 'PASSWORD' );",
      ].join('\n'),
  },
  {
    id: 'node',
    name: 'Node (Nodemailer)',
    write: ({ host, port, isTls, username }) =>
      [
        'nodemailer.createTransport({',
        `  host: '${host}',`,
        `  port: ${String(port)},`,
        `  secure: ${String(isTls)},`,
        `  auth: { user: '${username}', pass: process.env.SMTP_PASSWORD },`,
        '})',
      ].join('\n'),
  },
  {
    id: 'django',
    name: 'Django',
    write: ({ host, port, isTls, username }) =>
      [
        `EMAIL_HOST = '${host}'`,
        `EMAIL_PORT = ${String(port)}`,
        `${isTls ? 'EMAIL_USE_SSL' : 'EMAIL_USE_TLS'} = True`,
        `EMAIL_HOST_USER = '${username}'`,
        "EMAIL_HOST_PASSWORD = os.environ['SMTP_PASSWORD']",
      ].join('\n'),
  },
  {
    id: 'postfix',
    name: 'Postfix',
    write: ({ host, port, isTls, username }) =>
      [
        '# in main.cf',
        `relayhost = [${host}]:${String(port)}`,
        'smtp_sasl_auth_enable = yes',
        'smtp_sasl_security_options = noanonymous',
        'smtp_sasl_password_maps = hash:/etc/postfix/sasl_passwd',
        'smtp_tls_security_level = encrypt',
        ...(isTls ? ['smtp_tls_wrappermode = yes'] : []),
        '',
        '# in /etc/postfix/sasl_passwd, followed by: postmap /etc/postfix/sasl_passwd',
        `[${host}]:${String(port)} ${username}:PASSWORD`,
      ].join('\n'),
  },
]
