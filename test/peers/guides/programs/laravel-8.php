<?php
// Sends the letter with the mailer of Laravel 8, which is set up by FOLDER/.env: laravel-8.php FOLDER [CODE]. CODE sends instead.
require_once 'Illuminate/Config/autoload.php';
require_once 'Illuminate/View/autoload.php';
require_once 'Illuminate/Mail/autoload.php';
require_once 'Egulias/EmailValidator/autoload.php';
require_once 'Dotenv/autoload.php';

use Illuminate\Config\Repository;
use Illuminate\Container\Container;
use Illuminate\Events\Dispatcher;
use Illuminate\Filesystem\Filesystem;
use Illuminate\Mail\MailManager;
use Illuminate\Support\Facades\Facade;
use Illuminate\Support\Facades\Mail;
use Illuminate\Support\HtmlString;
use Illuminate\View\Engines\EngineResolver;
use Illuminate\View\Factory;
use Illuminate\View\FileViewFinder;

[, $folder] = $argv;
Dotenv\Dotenv::create(Illuminate\Support\Env::getRepository(), $folder)->load();
$smtp = [
    'transport' => 'smtp',
    'host' => env('MAIL_HOST'),
    'port' => env('MAIL_PORT'),
    'encryption' => env('MAIL_ENCRYPTION'),
    'username' => env('MAIL_USERNAME'),
    'password' => env('MAIL_PASSWORD'),
];
$app = new Container();
$app['config'] = new Repository(['mail' => [
    'default' => env('MAIL_MAILER'),
    'mailers' => ['smtp' => $smtp],
    'from' => ['address' => env('MAIL_FROM_ADDRESS'), 'name' => env('MAIL_FROM_NAME')],
]]);
$app['events'] = new Dispatcher($app);
$app['view'] = new Factory(new EngineResolver(), new FileViewFinder(new Filesystem(), []), $app['events']);
$app['mail.manager'] = new MailManager($app);
Facade::setFacadeApplication($app);

if (isset($argv[2])) {
    class_alias(Mail::class, 'Mail'); // as config/app.php does
    eval($argv[2]);
    exit;
}
Mail::send(['html' => new HtmlString(getenv('LETTER_HTML')), 'raw' => getenv('LETTER_TEXT')], [], function ($message) {
    $message->to(getenv('LETTER_TO'))->bcc(getenv('LETTER_BCC'))->subject(getenv('LETTER_SUBJECT'));
    $message->attach(getenv('LETTER_FILE'), ['as' => getenv('LETTER_NAME'), 'mime' => 'application/pdf']);
});
