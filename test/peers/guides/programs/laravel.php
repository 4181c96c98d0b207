<?php
// Sends the letter with Symfony Mailer as Laravel 9 and later set it up from FOLDER/.env: laravel.php FOLDER.
require __DIR__ . '/symfony-letter.php';
require_once 'Dotenv/autoload.php';

use Symfony\Component\Mailer\Transport\Dsn;
use Symfony\Component\Mailer\Transport\Smtp\EsmtpTransportFactory;

$env = Dotenv\Dotenv::createArrayBacked($argv[1])->load();
if ($env['MAIL_MAILER'] !== 'smtp') throw new Exception('another mailer');
$isEncrypted = $env['MAIL_PORT'] === getenv('PORT_OF_TLS'); // instead of 465
$dsn = new Dsn($isEncrypted ? 'smtps' : 'smtp', $env['MAIL_HOST'], $env['MAIL_USERNAME'], $env['MAIL_PASSWORD'], (int) $env['MAIL_PORT']);
(new EsmtpTransportFactory())->create($dsn)->send(letter($env['MAIL_FROM_ADDRESS'], $env['MAIL_FROM_NAME']));
