from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("cases", "0042_project_figures"),
    ]

    operations = [
        migrations.AddField(
            model_name="fixturerevision",
            name="recorded_commit",
            field=models.CharField(blank=True, default="", max_length=200),
            preserve_default=False,
        ),
        migrations.AddField(model_name="implementation", name="parsers", field=models.JSONField(default=dict)),
    ]
