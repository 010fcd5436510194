from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("cases", "0035_destroyed_evidence")]

    operations = [
        migrations.AddField(model_name="fixturerevision", name="timeouts", field=models.JSONField(default=list)),
    ]
