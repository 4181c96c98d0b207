/** Texts of `postern --help` and `postern COMMAND --help`. */

/** Options that select another daemon. `width` is the column of the descriptions. */
const elsewhere = (
  width: number,
): string => `  ${'--url URL'.padEnd(width)}another daemon than the one of this data folder, by default POSTERN_URL
  ${'--key KEY'.padEnd(width)}an API key for it, by default POSTERN_API_KEY`

const texts: Readonly<Record<string, string>> = {
  serve: `Usage: postern serve [--ready-file PATH]

Runs the daemon in the foreground until SIGTERM or SIGINT.

  --ready-file PATH  receives the real addresses as JSON once everything listens

Until the service has an owner, each start prints a link to become it, an API key and an SMTP login.
Exit codes: 0 stopped, 1 cannot start, 64 wrong arguments, 65 the store is damaged and a person must act, 70 the store
failed (start again), 78 wrong settings.
`,
  send: `Usage: postern send --from ADDRESS --to ADDRESS [--to ADDRESS]... [OPTIONS]

Sends one message through a running daemon and prints what was decided. The text comes from the standard
input unless --text or --html gives a body.

  --subject TEXT   "Test" by default
  --text TEXT      the body; - is the standard input
  --html HTML      the body as HTML, alone or beside the text
  --json           the answer as JSON
${elsewhere(17)}
`,
  tail: `Usage: postern tail [--json]

Shows what the running daemon of this data folder decides, as it happens: messages that are accepted or
refused, delivery attempts, and destinations that break or recover. Ends with Ctrl-C.

  --json   one JSON object a line
`,
  logs: `Usage: postern logs --trace ID [FILE] [--json]

Prints what was logged about one message: the latest lines of the running daemon, or those of a file. FILE - is the
standard input, such as what journalctl prints. Exit code 1 when there is none.

  --trace ID  the trace_id of the message
  --json      the lines as they are, one JSON object each
`,
  key: `Usage: postern key create NAME [OPTIONS]

Makes an API key and prints it; it is shown only once.

  --scope SCOPE               api:read, api:send (by default) or api:admin; each includes those before it
  --project ID                bind the key to one project
  --send-only                 the key sends and reads nothing, without a scope; for sites
  --expires-at TIME           the key works until then, such as 2027-01-31T12:00:00Z; by default it does not expire
  --failure-notices MODE      notices to authors about failed mail of a send-only key: auto (by default), on or off
  --failure-notice-to ADDRESS  gets these notices instead of MAIL FROM
  --json                      the answer as JSON
${elsewhere(28)}
`,
  promote: `Usage: postern promote DESTINATION [OPTIONS]

Promotes a destination, given by its id, to live mode: its mail reaches real people from now on. Prints the route
that leads mail to it. A warning says what is missing while no route does.

  --default-route   lead all mail of the project to the destination
  --project ID      the project of an organization-wide destination
  --json            the answer as JSON
${elsewhere(18)}
`,
  sendmail: `Usage: postern sendmail [-t] [-i] [-f ADDRESS] [-F NAME] [ADDRESS]...
       postern sendmail -q

Stands in for /usr/sbin/sendmail: reads a message from the standard input and hands it to the running daemon,
or keeps it in the spool folder while the daemon is away. Ends with 0 once the message is on disk.

  -t          recipients are in To, Cc and Bcc of the message; Bcc is always removed
  -i, -oi     a line with only a dot does not end the message
  -f ADDRESS  sender of the envelope, by default the From of the message; -r is the same
  -F NAME     name of the sender where the message has no From
  -q          send what waits in the spool; the next message and the start of the daemon send it too

Other options of sendmail are taken and change nothing; -bs, -bd, -bp and the like are refused.
The API key is POSTERN_SENDMAIL_KEY, POSTERN_API_KEY, or the one of the data folder that POSTERN_DATA_DIR names by
its absolute path. Without any of them no daemon is known, and nothing is stored.
Exit codes (sysexits.h): 64 wrong arguments, 65 no message that could be sent, 69 refused by the daemon, 73 the spool
cannot be written, 75 (-q) mail still waits, 77 the key is missing or wrong, 78 wrong settings or no known daemon.
`,
  capture: `Usage: postern capture [OPTIONS] [-- COMMAND ARGUMENTS...]

Runs an instance for mail tests: it captures all mail, keeps nothing, and connects to this machine alone. With a command it
sets SMTP_HOST, SMTP_PORT, SMTP_USERNAME, SMTP_PASSWORD, SMTP_URL, POSTERN_URL, POSTERN_API_KEY and POSTERN_INBOX_ID,
runs it, and ends with its exit code. Without one it runs until SIGTERM or Ctrl-C.

  --json              prints one line of JSON first: smtp, http, api_key and inbox_id
  --smtp-port PORT    of 127.0.0.1, by default a free one
  --http-port PORT    likewise
  --expect WHAT       what must have been caught at the end, such as 'to=ada@example.com subject~=Welcome count=1'
  --expect-file FILE  the same, one a line
  --wait SECONDS      how long after the tests mail may still come, by default 5
  --junit FILE        the outcome of each expectation as JUnit XML
  --suppress          bounces and complaints put recipients on the suppression list
  --verbose           logs to the standard error

Recipients such as defer@, refuse@, bounce@, slow@, dsn@ and complaint@, at any domain, misbehave as their name says.
Exit code: that of the command; 1 when an expectation is not met.
`,
  import: `Usage: postern import suppressions FILE [OPTIONS]
       postern import templates FILE [OPTIONS]

Takes over what another service kept, as it was downloaded there: lists of addresses as CSV or JSON, templates
as JSON, or one template as HTML or text. Prints what was not taken, and why. Again it adds nothing twice.

  --from SERVICE    resend, sendgrid, postmark, mailgun, brevo, mailersend, sparkpost, mailjet or ses; by
                    default the service is recognized
  --dry-run         nothing is stored; the report says what would be
  --project ID      the project that it belongs to, by default that of the key
  --kind KIND       of a list: bounces, blocks, complaints, unsubscribes, invalid, manual or allowed
  --list NAME       unsubscribes are from this list; * is every list
  --from-row N      goes on from this row of a list
  --subject TEXT    of a template that is HTML or text
  --replace         a template that is there with other content gets a new version
  --json            the report as JSON
${elsewhere(18)}

Exit code 1 when anything was refused.
`,
  queue: `Usage: postern queue list [FILTER] [--held] [OPTIONS]
       postern queue hold|release|expedite|drop FILTER [--reason TEXT] [--yes] [OPTIONS]
       postern queue hold --standing FILTER [--reason TEXT] [--yes] [OPTIONS]
       postern queue release --hold ID [--yes] [OPTIONS]
       postern queue holds [OPTIONS]

Shows the messages that wait, holds them back, releases what is held, makes retries due now, or drops messages so
that they are not delivered. Without --yes the messages are only counted. A standing hold holds new messages
too, until it is released.

FILTER, of which every option narrows:
  --destination ID   waiting for this destination
  --project ID       of this project
  --to-domain NAME   with a recipient of this domain
  --from ADDRESS     from this address, or from a domain: @example.com
  --older-than AGE   accepted longer ago than 30m, 2h or 3d
  --attempts N       after at least N attempts
  --trace ID         this message; may be repeated; not of a list
  --all              every message; a list needs no filter

  --limit N          of a list, at most N messages; 50 by default
  --standing         hold what is accepted from now on, too
  --hold ID          the standing hold to lift, with what it held
  --reason TEXT      recorded in the traces and the audit log
  --yes              do it
  --organization ID  as the operator, with POSTERN_OPERATOR_KEY
  --json             the answer as JSON
${elsewhere(19)}
`,
  deploy: `Usage: postern deploy FOLDER --site NAME [OPTIONS]

Deploys a website: sends those files of the folder that it does not have yet, and gives them to visitors in one
step. A website of this name is made where there is none. Prints what its pages lack, and the address.

  --site NAME   its name or id
  --preview     visitors get it once it is activated; prints the address of the preview
  --json        the answer as JSON
${elsewhere(14)}

Left out are names that begin with a dot (but .well-known), __MACOSX and Thumbs.db.
`,
  'login-link': `Usage: postern login-link ADDRESS

Prints a link that signs this mail address in, once, within 15 minutes. Asks the running daemon, or opens
the data of a stopped one. Whoever signs in first owns the service.
`,
  backup: `Usage: postern backup FILE [--since BACKUP] [--passphrase-file PATH] [--force]

Writes everything that is stored as of one moment, from the running daemon or from a stopped one's data: the
store, the master key, the certificate and what else is in the data folder. FILE - is the standard output.

  --since BACKUP          only what has changed since that backup; restore both, in this order
  --passphrase-file PATH  a file with the passphrase, in place of POSTERN_BACKUP_PASSPHRASE
  --force                 replaces FILE if it exists

With a passphrase the backup is encrypted (AES-256-GCM, scrypt). Without one it is as secret as its file.
The file has its name only once all of it is on disk. Exit code 1, and no file, when the store is damaged.
`,
  restore: `Usage: postern restore BACKUP [INCREMENTAL]... --into FOLDER [--passphrase-file PATH]

Restores a backup, with the incremental ones that go on from it in their order, into a folder that is new or
empty. A folder in which a restore broke off is marked, and no daemon starts on it. BACKUP - is the standard input.

  --passphrase-file PATH  a file with the passphrase, in place of POSTERN_BACKUP_PASSPHRASE
`,
  migrate: `Usage: postern migrate --from PLACE --to PLACE [--replace] [--ahead]

Copies everything that is stored, and compares the copy with what it was made of. A PLACE is a data folder, or
a database such as postgresql://user@host/database. No daemon may run on either. Keys and certificates are no
part of the store: they stay in the data folder. Large values of a database are objects where
POSTERN_STORE_OBJECTS says, and rows of it otherwise. A copy that broke off is begun again by the same command.
Afterwards no daemon starts on the store that was copied, as both would send the same mail.

  --replace  deletes what the database holds
  --ahead    copies from a data folder into a database while its daemon runs: once that is stopped, the same
             command without --ahead copies what has changed since
`,
  verify: `Usage: postern verify [BACKUP] [--passphrase-file PATH]
       postern verify --accept-losses

Compares the files of the store with their checksums, and checks that records, indexes, contents, counters and
queue agree: in the running daemon, which goes on with its work and rests half of the time for it, or in a
stopped one's data. With a file it reads a backup to its end.
Exit code 1 when anything does not agree, or is damaged.

  --accept-losses   goes on without records that damage has taken: lists are shown and backups are made again;
                    for a stopped daemon, when no backup can be restored
`,
  doctor: `Usage: postern doctor [--json]

Checks this machine and the configuration: Node, data folder, master key, certificate, name servers, clock
and ports. With a running daemon also the records of every sending domain, blocklists and reverse names of
its own addresses, disk, open files, destinations, parked webhooks, silent sources and the last backup.
Each finding says what to do. Exit code 1 when an error or a warning is among them.

  --json   {"ok", "findings": [{"id", "severity", "summary", "fix"}]}
`,
  setup: `Usage: postern setup [OPTIONS]

A guided first installation for a domain: asks what cannot be known, shows what it would write into the
configuration file and writes it, checks ports, disk, clock, DNS, reverse DNS, blocklists and outgoing
connections, prints the DNS records to publish as a zone file, and ends with a first captured mail. A daemon
that runs is used; otherwise one runs for the moment. Run again, it changes nothing that is right.

  --domain NAME     the domain that mail is sent from
  --host NAME       the name of this machine for others
  --email ADDRESS   who runs the service: gets alerts, and may sign in as operator
  --url ADDRESS     public address of the HTTP side, or none
  --public yes|no   whether other machines send mail through this one, and bounces come back to it
  --certificate acme|files|proxy  where the certificate comes from when others come to this machine: Postern
                    orders it by ACME (which agrees to the terms of the authority), it is in files, or a
                    reverse proxy serves HTTPS
  --certificate-file PATH, --key-file PATH  the PEM files; beside a proxy, those of the mail ports, or none
  --spf MECHANISM   SPF mechanism of your provider, or none
  --config PATH     the file to write; by default POSTERN_CONFIG, then /etc/postern/postern.json for root
                    where it is there, then ./postern.json
  --zone PATH       a file that receives the records too
  --force           replace the file of --zone if it exists
  --outgoing HOST:PORT  where it is tried whether mail can go out; can be repeated; none tries nothing.
                    By default a mail server of Gmail on port 25, and its submission on 587
  --yes             the default for every question without a flag

Exit code 1 when a check found something wrong, or nothing was to be written.
`,
  config: `Usage: postern config

Prints the effective configuration as JSON, with secrets masked. config/settings.md describes every setting.
`,
  licenses: `Usage: postern licenses [--sbom]

Prints the licences of what others wrote of this program, with their texts.

  --sbom   the bill of materials instead, as CycloneDX in JSON
`,
}

/** Printed for `--help`. */
export const helpText = `Usage: postern COMMAND

  setup               install for a domain, guided
  serve               run the daemon in the foreground until SIGTERM
  send                send one message and print what was decided
  tail                show what the daemon decides, as it happens
  logs --trace ID     show what was logged about a message
  sendmail            stand in for /usr/sbin/sendmail
  capture             run an instance for mail tests, which captures all mail
  key create NAME     make an API key
  promote DESTINATION let a destination deliver, and lead mail to it
  import WHAT FILE    take over suppressions or templates of another service
  deploy FOLDER       deploy a website; only files that are new are sent
  queue WHAT          show, hold, release, expedite or drop messages that wait
  login-link ADDRESS  print a link that signs this mail address in
  backup FILE         write everything that is stored into a file, while the daemon runs
  restore FILE        restore backups into an empty folder
  migrate             copy the store into a database, or back
  verify [FILE]       check that records and indexes agree, or that a backup is whole
  doctor              check machine, configuration and running daemon
  config              print the effective configuration, secrets masked
  licenses            licences of what is inside, or the bill of materials
  operator WHAT       plans, flags, prices and invoices of all organizations

  help [COMMAND]      as --help

  --help, --version

postern COMMAND --help describes each command.
Settings come from the JSON file that POSTERN_CONFIG names and from POSTERN_* variables; see config/settings.md.
`

/** Returns the help of a command, or the general help if the command is unknown. */
export const commandHelp = (name: string): string => texts[name] ?? helpText

/** A hint to the help of a command. */
export const helpOf = (command?: string): string => `Try postern ${command === undefined ? '' : `${command.replace(/ .*/, '')} `}--help.`
